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
#include "skel/detail/steal_bound.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/source.hpp"
#include "skel/stop.hpp"
#include "skel/storage/options.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Options of a ring_steal call. The same on every rank.
struct ring_steal_options {
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: "ring_steal"
  /// A task that was running on this many lost ranks ends the run with task_error, since it probably ended
  /// them. The first may have been running any task that it had borrowed: one rank more is lost, unless only
  /// the root is left. 1 counts as 2, 0: never.
  unsigned max_losses_per_task = 2;
  /// Saves the merged result and the remaining tasks, periodically and at the end. A later run, on
  /// any number of ranks, resumes from there (docs/reference/rollback.md).
  std::optional<checkpoint_options> checkpoint{};
};

/// The bound of a branch and bound job that looks for the greatest value. T is an integer of at most
/// 64 bits, float or double.
template <class T>
struct maximise {
  using value_type = T;  ///< the type of the values
  /// The bound before any value is known.
  static constexpr T worst = detail::least_value<T>();
  /// Whether `a` is strictly better than `b`.
  [[nodiscard]] static constexpr bool better(T a, T b) { return a > b; }
};

/// The bound of a branch and bound job that looks for the least value.
template <class T>
struct minimise {
  using value_type = T;  ///< the type of the values
  /// The bound before any value is known.
  static constexpr T worst = detail::greatest_value<T>();
  /// Whether `a` is strictly better than `b`.
  [[nodiscard]] static constexpr bool better(T a, T b) { return a < b; }
};

/// Receives the tasks that a task spawns. They run later, on any rank, the newest first. `Bound` is
/// the job's type `bound`; void: the job has none.
///
/// The bound is the best value of a solution found so far, on any rank. It is a hint. The threads of a
/// rank share it at once; other ranks hear of it later, and the ranks may hear of different values in
/// different orders.
///
/// The run gives the same result on any number of ranks, and after the loss of any ranks but the
/// root, if the job keeps three rules:
/// - improve() gets only the values of solutions that the same task adds to its result.
/// - A task leaves out only what prunes() allows. Work that could still *equal* the bound is done:
///   the rank that has found the bound may be lost with its result. The task that found it runs
///   again, and must find it again.
/// - The result depends on the best solutions only. If several are equally good, run and merge
///   choose by another order, such as the lexicographic one, or keep all of them.
template <class Task, class Bound = void>
class spawner {
  static constexpr bool bounded = !std::is_void_v<Bound>;
  using best = std::conditional_t<bounded, detail::best_known<Bound>, detail::no_bound>;

 public:
  /// The type of the bound's values; void without a bound.
  using value_type = typename best::value_type;

  /// Appends to `into`.
  explicit spawner(std::vector<Task>& into)
    requires(!bounded)
      : into_(into) {}
  /// Appends to `into`; `known` is the bound that the threads of this rank share.
  spawner(std::vector<Task>& into, best& known)
    requires bounded
      : into_(into), best_(&known) {}
  /// Spawns `task`.
  void operator()(Task task) { into_.push_back(std::move(task)); }
  /// Spawns a task that is constructed from `arguments`.
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    into_.emplace_back(std::forward<Arguments>(arguments)...);
  }

  /// The best value that this rank knows; Bound::worst if it knows none.
  [[nodiscard]] auto bound() const
    requires bounded
  {
    return best_->get();
  }
  /// Whether a task may leave out work whose best possible value is `estimate`: true if `estimate` is
  /// strictly worse than bound(). A NaN never is. The estimate must be at least as good as every
  /// solution that the work can find, also after rounding.
  [[nodiscard]] bool prunes(typename best::parameter estimate) const
    requires bounded
  {
    return Bound::better(bound(), estimate);
  }
  /// Announces the value of a solution that the task adds to its result. Ignored unless it is better
  /// than bound().
  void improve(typename best::parameter value)
    requires bounded
  {
    best_->improve(value);
  }

 private:
  std::vector<Task>& into_;
  best* best_ = nullptr;
};

namespace detail {
template <class Job>
using spawner_of = spawner<typename Job::task, bound_of<Job>>;
template <class Job>
concept runs_tasks = requires(Job const& job, typename Job::task const& task, spawner_of<Job>& more,
                              typename Job::result& sum) { job.run(task, more, sum); };
template <class Job>
concept runs_tasks_with_worker =
    requires(Job const& job, typename Job::task const& task, spawner_of<Job>& more, typename Job::result& sum,
             worker_info const& where) { job.run(task, more, sum, where); };
}  // namespace detail

/// Satisfied by a job: a type that names its task and result and has two operations:
///
///     struct tree_search {
///       using task = node;
///       using result = std::uint64_t;
///       void run(node const& n, skel::spawner<node>& more, result& sum) const;
///       result merge(result a, result b) const;
///     };
///
/// A branch and bound job also names its bound. run then takes a spawner that knows it:
///
///     using bound = skel::maximise<int>;
///     void run(node const& n, skel::spawner<node, bound>& more, result& best) const {
///       if (n.complete()) {
///         best = std::max(best, n.value());
///         more.improve(n.value());
///       }
///       for (node const& child : n.children())
///         if (!more.prunes(child.best_possible())) more(child);
///     }
template <class Job>
concept spawning_task = (detail::runs_tasks<Job> || detail::runs_tasks_with_worker<Job>)&&requires(
    Job const& job, typename Job::result& sum) {
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
/// the root is lost and the body of run_main cannot run again.
///
/// `how` says what a thief gets, and which ranks it asks.
///
/// Source: [Lee97, §3]. docs/explanation/work-stealing.md describes the protocol.
template <task_source Source, class Job, std::same_as<schedule::stealing> S>
result<detail::result_of<Job>> ring_steal(context& ctx, Source&& source, Job const& job, S const& how,
                                          ring_steal_options const& options = {});
/// The same with schedule::stealing{}.
template <task_source Source, class Job>
result<detail::result_of<Job>> ring_steal(context& ctx, Source&& source, Job const& job,
                                          ring_steal_options const& options = {});

}  // namespace skel

#include "skel/detail/steal_adapter.hpp"
