// When the root of a farm asks the ranks what they hold, and what they have answered.
#pragma once

#include <vector>

#include "role/digest.hpp"
#include "role/task_set.hpp"

namespace skel::role {

/// After a loss tasks may be held by no rank. The root takes stock in rounds: it asks all living ranks, and
/// what is neither recorded nor claimed is given again. Ranks are named by their index. A regular value.
class stock_taking {
 public:
  stock_taking() = default;
  explicit stock_taking(std::size_t ranks) : ranks_(ranks, rank::heard) {}

  /// A round begins. `asked`: the ranks that must answer; `gone`: the lost ones.
  void begin(std::vector<bool> const& asked, std::vector<bool> const& gone);
  /// Whether this rank's answer to `round` is awaited.
  [[nodiscard]] bool awaits(std::size_t index, std::uint64_t round) const {
    return under_way_ && round == round_ && ranks_[index] == rank::asked;
  }
  /// It holds these tasks.
  void answered(std::size_t index, range_list const& held);
  /// This rank is lost and will not answer.
  void lost(std::size_t index);
  /// No more answers are awaited.
  [[nodiscard]] bool complete() const;
  /// These tasks are accounted for: they are given out while the round is under way, or not given yet.
  void claim(task_range const& range) { claimed_.insert(range); }
  [[nodiscard]] task_set const& claimed() const { return claimed_; }
  /// In a round: a rank that was lost before it claimed anything.
  [[nodiscard]] bool claims_nothing(std::size_t index) const { return ranks_[index] == rank::gone; }
  void end();

  /// Time passes; `any_lost`: a rank is lost. True: a round should begin.
  [[nodiscard]] bool tick(bool any_lost);
  /// The run goes on: without a loss there is no reason to take stock.
  void moved() { quiet_ticks_ = 0; }
  /// A loss, or what was found after it: stock is taken again soon, then after growing pauses.
  void again_soon() { pause_ = 1; }

  [[nodiscard]] bool under_way() const { return under_way_; }
  [[nodiscard]] std::uint64_t round() const { return round_; }
  friend bool operator==(stock_taking const&, stock_taking const&) = default;
  void hash(digest& d) const;

 private:
  enum class rank : std::uint8_t { heard, asked, gone };

  std::vector<rank> ranks_;
  bool under_way_ = false;
  std::uint64_t round_ = 0;
  task_set claimed_;          // in this round
  unsigned quiet_ticks_ = 0;  // since the run last moved
  unsigned ticks_ = 0;        // since the round began, or the last one, while a rank is lost
  unsigned pause_ = 1;        // ticks until stock is taken again
};

}  // namespace skel::role
