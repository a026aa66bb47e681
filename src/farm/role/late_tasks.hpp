// Which running tasks of a farm another rank would finish earlier.
#pragma once

#include <optional>
#include <vector>

#include "farm/role/begun_tasks.hpp"
#include "farm/role/rank_loads.hpp"
#include "protocol/task_costs.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel::role {

/// A rank that is faster by this factor may run another copy of a task that has one.
inline constexpr double clearly_faster = 1.5;

struct late_copy {
  task_range tasks{0, 1, 1};
  double cost = 0;  ///< expected, in average tasks
};

/// Returns the range that gains most at time `t` if `thief` runs a copy of it, or nothing if the expected
/// gain is small. `awaited`: the call ends only after the copy, even if the owner is first. `allowed(owner,
/// tasks)` says which may be copied. Records the copy. `costs`: of all tasks, 1 on average.
[[nodiscard]] std::optional<late_copy> copy_for(
    rank_id thief, begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t,
    bool awaited, detail::function_reference<bool(rank_id, task_range const&)> const& allowed);

/// Lets `loads` know for how long the tasks have run that run at time `t`.
void measure_running(begun_tasks& begun, rank_loads& loads, double t);

/// Seconds until a thread of the rank is expected to be free for another task than those that it runs.
[[nodiscard]] double wait_for(rank_id rank, begun_tasks& begun, rank_loads const& loads,
                              task_costs const& costs, double t);

/// A copy for a rank that has other tasks.
struct early_copy {
  rank_id rank = 0;
  task_id task = 0;
};

/// Returns copies of the tasks that run far longer than the average and are expected to end later than
/// `remaining` seconds after `t`, when all others are done: each for the rank where it ends first. Records
/// them as copy_for does. `unreported`: seconds for which the root may not know that a task has ended.
/// `computes(rank)` says which ranks may take one.
[[nodiscard]] std::vector<early_copy> early_copies(
    begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t, double unreported,
    double remaining, detail::function_reference<bool(rank_id)> const& computes,
    detail::function_reference<bool(rank_id, task_range const&)> const& allowed);

}  // namespace skel::role
