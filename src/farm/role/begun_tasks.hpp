// The tasks that each rank of a farm runs, as far as the root knows.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/by_rank.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

/// A range that a compute thread has begun.
struct begun_range {
  task_range tasks{};
  double since = 0;                 ///< seconds, on the root's clock
  std::optional<rank_id> copier{};  ///< the rank that was last given a copy
  double copied = 0;                ///< when
  bool copy = false;                ///< runs on another rank as well, which had it first
};

/// A regular value.
class begun_tasks {
 public:
  begun_tasks() = default;
  explicit begun_tasks(rank_id ranks) : ranks_(ranks) {}

  /// The rank was granted tasks at time `t`. With a free thread it begins them now; otherwise its next
  /// results message says what it begins.
  void given(rank_id rank, std::size_t threads, range_list const& tasks, double t, bool copy = false);
  /// The rank reports tasks that it has finished and begun, ...
  void results(rank_id rank, std::size_t threads, range_list const& done, range_list const& begun, double t);
  /// ... or all tasks that it runs.
  void all(rank_id rank, std::size_t threads, range_list const& running, double t);
  /// Returns the tasks that the rank ran when it was lost, and forgets it.
  [[nodiscard]] range_list take(rank_id rank);

  [[nodiscard]] rank_id ranks() const { return ranks_.ranks(); }
  [[nodiscard]] std::vector<begun_range>& of(rank_id rank) { return ranks_[rank]; }
  friend bool operator==(begun_tasks const&, begun_tasks const&) = default;
  auto fields() const { return std::tie(ranks_); }

 private:
  void keep_latest(rank_id rank, std::size_t threads);

  by_rank<std::vector<begun_range>> ranks_;
};

/// Whether one of the ranges holds this task.
[[nodiscard]] bool any_contains(range_list const& ranges, task_id id);

}  // namespace skel::role
