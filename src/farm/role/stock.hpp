// Stock-taking: when the root of a farm asks the ranks which tasks they hold, and their answers.
#pragma once

#include <tuple>

#include "protocol/by_rank.hpp"
#include "protocol/task_set.hpp"

namespace skel::role {

/// After a loss some tasks may be held by no rank. The root takes stock in rounds: it asks all living ranks,
/// then gives tasks that are neither recorded nor claimed again. A regular value.
class stock_taking {
 public:
  stock_taking() = default;
  explicit stock_taking(rank_id ranks) : ranks_(ranks) {}

  void begin();
  /// In this round, the rank must answer, ...
  void asked(rank_id rank) { ranks_[rank] = answer::due; }
  /// ... or was lost before.
  void gone(rank_id rank) { ranks_[rank] = answer::none; }
  /// Whether this rank's answer to `round` is due.
  [[nodiscard]] bool awaits(rank_id rank, std::uint64_t round) const {
    return under_way_ && round == round_ && ranks_[rank] == answer::due;
  }
  /// The rank holds these tasks.
  void answered(rank_id rank, range_list const& held);
  /// The rank is lost and will not answer.
  void lost(rank_id rank);
  /// True if all answers have arrived.
  [[nodiscard]] bool complete() const;
  /// These tasks are accounted for: given during this round, or not given yet.
  void claim(task_range const& range) { claimed_.insert(range); }
  [[nodiscard]] task_set const& claimed() const { return claimed_; }
  /// True if, in this round, a rank was lost before it claimed anything.
  [[nodiscard]] bool claims_nothing(rank_id rank) const { return ranks_[rank] == answer::none; }
  void end();

  /// Counts a tick. `any_lost`: some rank is lost. Returns true if a round should begin.
  [[nodiscard]] bool tick(bool any_lost);
  /// The run makes progress, so without a loss there is no reason to take stock.
  void moved() { quiet_ticks_ = 0; }
  /// After a loss, or a find: takes stock again soon, then after growing pauses.
  void again_soon() { pause_ = 1; }

  [[nodiscard]] bool under_way() const { return under_way_; }
  [[nodiscard]] std::uint64_t round() const { return round_; }
  friend bool operator==(stock_taking const&, stock_taking const&) = default;
  auto fields() const {
    return std::tuple(ranks_, under_way_, round_, claimed_.count(), quiet_ticks_, ticks_, pause_);
  }

 private:
  enum class answer : std::uint8_t { heard, due, none };

  by_rank<answer> ranks_;
  bool under_way_ = false;
  std::uint64_t round_ = 0;
  task_set claimed_;          // claimed in this round
  unsigned quiet_ticks_ = 0;  // since the run last made progress
  unsigned ticks_ = 0;        // since the (last) round began, while a rank is lost
  unsigned pause_ = 1;        // ticks until the next round
};

}  // namespace skel::role
