// Losses of a farm with a rank: tasks that no rank holds any more, and tasks that ended their ranks.
#pragma once

#include <tuple>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/begun_tasks.hpp"
#include "farm/role/compute_ranks.hpp"
#include "farm/role/config.hpp"
#include "farm/role/stock.hpp"
#include "farm/role/task_progress.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

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
