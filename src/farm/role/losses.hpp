// Losses of a farm with a rank: tasks that no rank holds any more, and tasks that ended their ranks.
#pragma once

#include <tuple>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/begun_tasks.hpp"
#include "farm/role/compute_ranks.hpp"
#include "farm/role/config.hpp"
#include "farm/role/task_progress.hpp"
#include "protocol/by_rank.hpp"
#include "protocol/suspects.hpp"
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

/// A task counts as given until its result is back. After a loss, the root takes stock (stock_taking): tasks
/// that are neither recorded nor claimed are given again. Those that the lost rank was running (begun_tasks)
/// are suspected of having ended it and go to one rank at a time. A regular value, part of farm_book.
class farm_losses {
 public:
  farm_losses() = default;
  explicit farm_losses(farm_root_config const& config);

  /// Whether it matters what this rank runs: it may die of it, or others may copy it.
  [[nodiscard]] bool watches(rank_id rank) const { return may_blame(rank) || directs_; }
  /// These tasks are given now, or wait for a rank: no other rank need hold them.
  void claim(range_list const& tasks);
  /// The rank is lost, or its results do not count any more.
  void lost(rank_id rank);
  /// Asks all ranks that compute which tasks they hold.
  void take_stock(compute_ranks const& ranks, farm_actions& out);
  /// The end of a round: returns the tasks that must be given again, except suspects, and the number of new
  /// suspects.
  struct found {
    range_list missing{};
    std::uint64_t suspects = 0;
  };
  [[nodiscard]] found finish_round(task_progress const& tasks, compute_ranks const& ranks);
  /// Suspects the tasks without result that ended roots of earlier attempts, and returns them.
  [[nodiscard]] task_set suspect_roots(task_progress const& tasks);

  [[nodiscard]] stock_taking& stock() { return stock_; }
  [[nodiscard]] stock_taking const& stock() const { return stock_; }
  [[nodiscard]] begun_tasks& begun() { return begun_; }
  [[nodiscard]] role::suspects<task_id>& suspects() { return suspects_; }
  [[nodiscard]] role::suspects<task_id> const& suspects() const { return suspects_; }
  friend bool operator==(farm_losses const&, farm_losses const&) = default;
  auto fields() const { return std::tie(stock_, begun_, suspects_); }

 private:
  [[nodiscard]] bool may_blame(rank_id rank) const { return blames_ && rank != root_; }
  [[nodiscard]] std::uint64_t find_suspects(task_progress const& tasks, compute_ranks const& ranks);

  rank_id root_ = 0;
  bool blames_ = false;
  bool directs_ = false;
  std::vector<former_root> roots_;
  stock_taking stock_;
  begun_tasks begun_;
  role::suspects<task_id> suspects_;
};

}  // namespace skel::role
