// The initial tasks of each worker: pure functions of the number of tasks and workers.
#pragma once

#include <span>
#include <vector>

#include "skel/detail/task_range.hpp"
#include "skel/schedule.hpp"
#include "task_costs.hpp"

namespace skel {

/// Whether workers request tasks from the root (on a ring: before they begin to steal).
[[nodiscard]] constexpr bool asks_root(farm_policy const& p) {
  return p.more == schedule::more_from::root || p.more == schedule::more_from::root_then_ranks ||
         (p.more == schedule::more_from::ring && p.start == schedule::start_with::nothing);
}
/// The policy for a source of unknown length: no tasks can be dealt in advance, so a ring begins
/// guided.
[[nodiscard]] farm_policy for_stream(farm_policy policy);

/// Worker `index` of `workers` gets a contiguous part; parts differ by at most one task.
[[nodiscard]] task_range contiguous_share(std::uint64_t tasks, int workers, int index);
/// Worker `index` of `workers` gets a contiguous part whose tasks cost at most its share of what the workers
/// before it left, but at least one task.
[[nodiscard]] task_range contiguous_share(std::uint64_t tasks, int workers, int index,
                                          task_costs const& costs);

/// Worker `index` of `workers` gets the tasks i with i mod workers == index.
[[nodiscard]] task_range interleaved_share(std::uint64_t tasks, int workers, int index);

/// The share of a list of `tasks` tasks that worker `index` of `workers` computes by itself; empty
/// if the root deals.
[[nodiscard]] range_list known_share(farm_policy const& policy, std::uint64_t tasks, int workers, int index,
                                     task_costs const& costs = {});

/// The tasks of `all` at these positions.
[[nodiscard]] range_list at_positions(range_list const& all, range_list const& positions);

/// Deals `tasks` tasks interleaved in proportion to relative power ([Lee97, §2]): a
/// worker of power 2 counts as two workers, so powers 1, 2, 1 give the order w1, w2, w3, w2.
/// Fractions are exact in the long run: the k-th turn of a worker of power p comes at virtual time
/// k / p. Returns one list of ranges per worker.
/// With known costs, a turn takes as long as the task costs.
[[nodiscard]] std::vector<range_list> weighted_shares(std::uint64_t tasks, std::span<double const> power,
                                                      task_costs const& costs = {});

/// Number of tasks in the next grant: the fixed chunk (as many chunks as cover `wanted`), or a
/// share of the remaining tasks: remaining * threads / (2 * all threads), at least the chunk. Never
/// more than `remaining`.
[[nodiscard]] std::uint64_t next_grant(farm_policy const& policy, std::uint64_t remaining,
                                       std::uint64_t wanted, int threads, int all_threads);

}  // namespace skel
