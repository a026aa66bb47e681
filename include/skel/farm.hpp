// The farm: independent tasks over all ranks, results to a sink on the root.
//
//     std::uint64_t square(std::uint64_t i) { return i * i; }
//
//     std::vector<std::uint64_t> squares(skel::context& ctx) {  // on every rank; filled on the root
//       std::vector<std::uint64_t> all;
//       skel::farm(ctx, skel::indices(1000), square, skel::schedule::guided{}, skel::into(all));
//       return all;
//     }
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>

#include "skel/context.hpp"
#include "skel/detail/task_function.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/sink.hpp"
#include "skel/source.hpp"
#include "skel/storage/options.hpp"
#include "skel/transfer.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Whether the root computes, too.
enum class root_role : std::uint8_t { works, serves };

/// Everything about a farm call beside tasks, function, schedule and sink. The same on every rank.
struct farm_options {
  results_policy results = results::streamed();
  root_role root = root_role::works;  ///< serves: the root only hands out and collects (ignored on one rank)
  std::stop_token stop{};             ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early
  std::string label{};                         ///< for progress and trace; default: "farm"
  /// A task that was running on this many lost ranks ends the run with task_error: it is likely to end the
  /// others, too. 0: none does.
  unsigned max_losses_per_task = 2;
  /// Results that the root has had are saved, and a later run goes on with them (docs/farm.md).
  std::optional<checkpoint_options> checkpoint{};
  /// Whether the tasks of a replicated list are compared over the ranks (their number always is). Empty: in
  /// builds with assertions, NDEBUG undefined.
  std::optional<bool> check_tasks{};
};

/// Satisfied by f(task const&) and f(task const&, worker_info const&) on a const object, with a result that
/// can travel.
template <class F, class Task>
concept task_function =
    (std::is_invocable_v<F const&, Task const&> ||
     std::is_invocable_v<F const&, Task const&,
                         worker_info const&>)&&transferable<typename detail::task_result<F, Task>::type>;

/// Runs f(task) once for every task of the source, on all ranks, and gives each result once to the sink on
/// the root.
///
/// Collective: every rank of `ctx` makes the same call. `f` is called concurrently by the compute threads of
/// a rank, on a const object; it may take a worker_info as its second argument. The sink is called on the
/// root only, one call at a time (from whichever of its threads is free): sink(task_id, result&&), in the
/// order of completion; skel::ordered for task order; skel::reduced for one merged value. Tasks that return
/// nothing may have a sink(task_id). A function object is used where it is, not copied, so that it holds what
/// it has collected. A sink that returns skel::flow::stop ends the run early.
///
/// Throws, on every rank and after the run has drained: task_error when a task throws, sink_error when the
/// sink throws, source_error when the source throws. usage_error, before anything is sent, for choices that
/// exclude each other (docs/farm.md); protocol_error when the ranks do not make the same call;
/// lost_rank_error elsewhere when the root is lost.
///
/// Sources: Lee, Lee and Lu, "Comparisons of load balancing strategies for ray tracing on network clustered
/// environments", sections 2 and 3; StormView, section 4.
template <task_source Source, class F, farm_schedule S, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, S const& how, Sink&& sink,
                  farm_options const& options = {});

}  // namespace skel

#include "skel/detail/farm_adapter.hpp"
