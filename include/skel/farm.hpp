// The farm: independent tasks over all ranks, results to a sink on the root.
//
//     std::uint64_t square(std::uint64_t i) { return i * i; }
//
//     std::vector<std::uint64_t> squares(skel::context& ctx) {  // on every rank; filled on the root
//       std::vector<std::uint64_t> all;
//       skel::farm(ctx, skel::indices(1000), square, skel::into(all));
//       return all;
//     }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "skel/context.hpp"
#include "skel/detail/task_function.hpp"
#include "skel/on_error.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/sink.hpp"
#include "skel/source.hpp"
#include "skel/steered.hpp"
#include "skel/stop.hpp"
#include "skel/storage/options.hpp"
#include "skel/task_needs.hpp"
#include "skel/team_size.hpp"
#include "skel/transfer.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Options of a farm call. The same on every rank.
struct farm_options {
  /// How a single task runs.
  struct per_task {
    /// A task that runs for longer than this has failed. Since nothing can interrupt it, its rank prints
    /// a line and ends its process, and the others go on as after any loss. The root would run
    /// the task again: there, it ends the job with exit code 1. Empty: no limit.
    std::optional<double> time_limit_seconds{};
    /// Late tasks are not copied to faster ranks. After a loss, a task may still run again on another rank.
    bool run_once = false;
    /// For a task function that takes a team: how many ranks run a task together, a number or a function
    /// of the task's number. All ranks, if there are fewer.
    skel::team_size team_size{};
    /// Whether the ranks of a team run on one host (context::host()): a team that no host has enough ranks
    /// for gets as many as one has.
    bool team_on_one_host = false;
    /// What task i costs, in any unit: finite and at least 0. The most costly tasks begin first, those of
    /// equal cost in the order of their numbers, so that the run does not end with one long task. The result
    /// must be the same on every rank, as a replicated list is; each rank calls it once per task, before the
    /// first one runs. Not for on_root sources. Empty: tasks begin in the order of the list.
    std::function<double(task_id)> cost{};
    /// What a task takes of its rank: memory, cores and seconds. A rank begins a task only beside those with
    /// which it fits into the rank's share of the host, or alone; one that fits on no rank is a task_error.
    /// One that cannot end before the time limit is left out: report::needs counts those, and the run has
    /// stopped early. Late tasks are then not copied. Not for teams (docs/how-to/needs.md).
    needs_of_task needs{};
  };

  results_policy results = results::streamed();  ///< when results travel
  /// Whether the root computes tasks too. False: it only hands them out and collects results; without effect
  /// on one rank.
  bool root_works = true;
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: "farm"
  /// What happens when a task throws: the run ends (on_error::stop), the task runs again (retry), or
  /// the run goes on without it (collect).
  error_policy on_error{};
  /// A task that was running on this many lost ranks ends the run with task_error, since it probably ended
  /// them; with on_error::collect it is left out. 1 counts as 2, 0: never.
  unsigned max_losses_per_task = 2;
  /// Saves the results that the root has received, so that a later run resumes from them
  /// (docs/reference/rollback.md).
  std::optional<checkpoint_options> checkpoint{};
  /// This share of the tasks, 0 to 1, is repeated on another rank, and the results are compared byte by byte.
  /// If they differ, a third rank settles which is right: the rank at fault computes nothing more, its
  /// results are computed again, and report::audit names it. Not for reduced sinks and teams
  /// (docs/how-to/audit-results.md). 0: no audits.
  double audit = 0;
  per_task task{};  ///< how a single task runs
};

/// Satisfied by a task_source and by skel::steered<...>.
template <class S>
concept farm_source = task_source<S> || is_steered<std::remove_cvref_t<S>>;

/// Satisfied by a function object that can be called, as const, with (task const&), (task const&,
/// worker_info const&) or (context&, task const&).
template <class F, class Task>
concept calls_task =
    std::is_invocable_v<F const&, Task const&> ||
    std::is_invocable_v<F const&, Task const&, worker_info const&> || detail::takes_team<F, Task>;

/// Satisfied by a function object that calls_task and whose result can travel.
template <class F, class Task>
concept task_function = calls_task<F, Task> && transferable<typename detail::task_result<F, Task>::type>;

/// Runs f(task) once for every task of the source, on all ranks, and gives each result once to the
/// sink on the root.
///
/// Collective: every rank of `ctx` makes the same call. The compute threads of a rank call `f`
/// concurrently, on a const object; it may take a worker_info as its second argument. After a
/// loss, or as a copy of a late task (farm_options::per_task::run_once), a task may run on more than one
/// rank; the sink receives one of its results. `how` assigns tasks to ranks (skel/schedule.hpp). The result
/// of a task must not depend on the rank that runs it, under any schedule; context_options::checks finds such
/// tasks.
///
/// A task function that takes (skel::context& team, task const&) runs on all ranks of a team together,
/// farm_options::per_task::team_size of them. Skeleton calls and the user's MPI calls on the team work as on
/// any context; the result of the team's root counts. With teams of more than one rank the root gives each
/// team one task at a time, the largest first, whatever `how` says. When a rank of a team is lost,
/// skeleton calls on that team throw lost_rank_error, the task runs again, and the survivors join other
/// teams (docs/reference/teams.md).
///
/// The sink is called on the root only, one call at a time, from any of its threads: sink(task_id,
/// result&&) in the order of completion. Tasks that return nothing may have a sink(task_id).
/// skel::ordered delivers in task order, skel::reduced merges into one value, skel::into fills a
/// vector. An lvalue sink is not copied, so it keeps what it has collected. A sink that returns
/// skel::results::flow::stop ends the run early.
///
/// Returns the report; it is complete on the root.
///
/// Throws, on every rank and after the run has drained: task_error when a task throws, unless
/// farm_options::on_error says otherwise; sink_error when the sink throws; source_error when the source
/// throws; protocol_error when the ranks do not make the same call; lost_rank_error, on the other ranks,
/// when the root is lost and the body of run_main cannot run again (skel/run_main.hpp). Before anything is
/// sent: usage_error for choices that exclude each other (docs/reference/farm.md).
///
/// Sources: [Lee97, §2 and §3], [Storm95, §4].
template <farm_source Source, class F, farm_schedule S, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, S const& how, Sink&& sink,
                  farm_options const& options = {});
/// The same with schedule::adaptive.
template <farm_source Source, class F, class Sink>
  requires(!farm_schedule<std::remove_cvref_t<Sink>>)
result<void> farm(context& ctx, Source&& source, F const& f, Sink&& sink, farm_options const& options = {});

}  // namespace skel

#include "skel/detail/farm_adapter.hpp"
