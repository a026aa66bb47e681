// ring_steal: runs tasks that spawn tasks, on all ranks; idle ranks steal along the ring.
//
//     struct binary_tree {  // counts the nodes of a tree of some depth
//       using task = int;   // the depth below a node
//       using result = std::uint64_t;
//       void run(int depth, skel::spawner<int>& more, std::uint64_t& nodes) const {
//         ++nodes;
//         for (int child = 0; depth > 0 && child < 2; ++child) more(depth - 1);
//       }
//       std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
//     };
//
//     std::uint64_t nodes(skel::context& ctx) {  // on every rank
//       return skel::ring_steal(ctx, skel::on_root([] { return std::vector{20}; }), binary_tree{}).value;
//     }
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/source.hpp"
#include "skel/stop.hpp"
#include "skel/storage/options.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Options of a ring_steal call. The same on every rank.
struct ring_steal_options {
  steal_size take = steal_size::half;          ///< number of waiting tasks that a thief gets
  ring_order order = ring_order::doubling;     ///< order in which a thief asks other ranks
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: "ring_steal"
  /// Number of lost ranks that ran the same work after which the run ends with task_error. The work
  /// is then likely to end the remaining ranks too. 0: never.
  unsigned max_losses_per_task = 2;
  /// Saves the merged result and the remaining tasks, periodically and at the end. A later run, on
  /// any number of ranks, resumes from there (docs/rollback.md).
  std::optional<checkpoint_options> checkpoint{};
};

/// Receives the tasks that a task spawns. They run later, on any rank, the newest first.
template <class Task>
class spawner {
 public:
  /// Appends to `into`.
  explicit spawner(std::vector<Task>& into) : into_(into) {}
  /// Spawns `task`.
  void operator()(Task task) { into_.push_back(std::move(task)); }
  /// Spawns a task that is constructed from `arguments`.
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    into_.emplace_back(std::forward<Arguments>(arguments)...);
  }

 private:
  std::vector<Task>& into_;
};

/// Satisfied by a job: a type that names its task and result and has two operations:
///
///     struct tree_search {
///       using task = node;
///       using result = std::uint64_t;
///       void run(node const& n, skel::spawner<node>& more, result& sum) const;
///       result merge(result a, result b) const;
///     };
template <class Job>
concept spawning_task = requires(Job const& job, typename Job::task const& task,
                                 spawner<typename Job::task>& more, typename Job::result& sum) {
  job.run(task, more, sum);
  { job.merge(std::move(sum), std::move(sum)) } -> detail::becomes<typename Job::result>;
};

/// Runs the tasks of the source and all tasks that they spawn, once each, on all ranks, and merges
/// their results.
///
/// Collective: every rank of `ctx` makes the same call; the source is opened on the root. The
/// compute threads of a rank call `job.run(task, more, sum)` concurrently, on a const object. A
/// task adds its own part to `sum`, which starts as result{} and may hold the parts of other tasks.
/// It spawns a task with more(task). It may take a worker_info as its fourth argument. A rank runs
/// its newest task first (depth first), so that few tasks wait at a time; thieves get the oldest.
/// `job.merge` must be associative, commutative and exact, with result{} as its neutral element,
/// since results are merged in the order of arrival.
///
/// Returns the result and the report on every rank. The report's `tasks` is the number of tasks in
/// the result. Each counts once, even if ranks were lost. After a stop or at the time limit, the
/// report's `stopped_early` is true, and the result is that of the tasks that ran.
///
/// Throws, on every rank and after the run has drained: task_error if a task or the merge throws
/// (the task number counts the tasks that rank had run); source_error if the source throws;
/// protocol_error if the ranks do not make the same call; lost_rank_error, on the other ranks, if
/// the root is lost.
///
/// Source: [Lee97, §3]. docs/ring-steal.md describes the protocol.
template <task_source Source, class Job>
result<detail::result_of<Job>> ring_steal(context& ctx, Source&& source, Job const& job,
                                          ring_steal_options const& options = {});

}  // namespace skel

#include "skel/detail/steal_adapter.hpp"
