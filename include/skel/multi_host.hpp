// multi_host: units that are read in order, by groups of ranks; the host of a group reads, its
// ranks process.
//
//     struct means_of_neighbours {
//       using carried = int;  // nothing
//       using unit = std::vector<double>;
//       using packet = std::vector<double>;
//       using result = double;
//       std::uint64_t read(std::uint64_t number, carried&, unit& row) const {
//         row.assign(9, static_cast<double>(number));  // from a file, say
//         return row.size() - 1;
//       }
//       packet cut(unit const& row, std::uint64_t first, std::uint64_t count) const {
//         auto const begin = row.begin() + static_cast<std::ptrdiff_t>(first);
//         return {begin, begin + static_cast<std::ptrdiff_t>(count) + 1};
//       }
//       result process(packet const& p, std::size_t i) const { return (p[i] + p[i + 1]) / 2; }
//     };
//
//     std::vector<double> means(skel::context& ctx) {  // of all rows in their order, on the root
//       std::vector<double> all;
//       auto const sink = [&](std::uint64_t, std::uint64_t, double mean) { all.push_back(mean); };
//       skel::multi_host(ctx, 100, means_of_neighbours{}, sink);
//       return all;
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/detail/group_job.hpp"
#include "skel/report.hpp"
#include "skel/stop.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Measures of [Bajaj93] and of this library against idle ranks, which experiments of the paper and tests
/// switch off (docs/reference/multi-host.md). The defaults were the fastest in measurements. Every rank has a
/// worker, which the paper calls a slave.
struct multi_host_measures {
  bool measure_power =
      false;             ///< a short probe measures the ranks' power, instead of multi_host_options::power
  bool reassign = true;  ///< ranks of a finished group move to others, in proportion to their remaining work
  /// Ranks of a finished group take over the end of another group's share as a group of their own, if
  /// enough unread units are left. False: they only help, as in the paper.
  bool split_shares = true;
  bool host_helps = true;   ///< hosts also process pieces while there is nothing to read
  unsigned read_ahead = 1;  ///< units read in advance; 0: a unit is read when all pieces have been handed out
  bool preload = false;     ///< each host reads its first unit before the clock starts
};

/// Options of a multi_host call. The same on every rank.
struct multi_host_options {
  /// The destination of a complete unit's results.
  enum class unit_results : std::uint8_t {
    in_order,      ///< to the sink on the root, unit by unit; results that come early wait there
    as_they_come,  ///< to the sink on the root, each unit as a whole, its pieces in order
    on_hosts       ///< to the sink on the host that read the unit
  };

  /// Ranks per group. 1 is the symmetric partition, the number of ranks a single group.
  /// 0: chosen from the times of the first units, or, with fewer than four units per rank, four if
  /// pieces leave during the first read; the report contains it.
  unsigned group_size = 0;
  /// Relative power per rank: groups get about equal power, and shares in proportion. Empty: all
  /// ranks alike.
  std::vector<double> power{};
  /// The sink's seconds per unit on the root, as a share of the seconds to read and process a unit
  /// (an earlier run reports both as report::groups). The root takes a proportionally smaller
  /// share, so that all ranks end together.
  double sink_cost = 0;
  unit_results results = unit_results::in_order;  ///< where results go
  stop_condition stop{};                          ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};     ///< ends the run early; empty: no limit
  std::string label{};                            ///< shown by progress and trace; default: "multi_host"
  /// A piece that was running on this many lost ranks, or a unit that was open on this many lost hosts, ends
  /// the run with task_error, since it probably ended them. 1 counts as 2, 0: never.
  unsigned max_losses_per_task = 2;
  multi_host_measures measures{};  ///< against idle ranks
};

/// While a job reads a unit, it calls ready(n) to let the first n pieces be processed at once.
/// Valid until `read` returns.
using pieces_ready = detail::function_reference<void(std::uint64_t)>;

/// Satisfied by a job: a type that names its parts and has three operations,
///
///     struct isosurfaces {
///       using carried = last_slices;    // a host's state from unit to unit; default constructible
///       using unit = layer;             // the data of a unit; default constructible
///       using packet = rows;            // neighbouring pieces of a unit, with all that processing needs
///       using result = polygons;        // of one piece
///       std::uint64_t read(std::uint64_t number, carried& c, unit& into) const;   // the number of pieces
///       packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const;
///       result process(packet const& p, std::size_t i) const;                     // the packet's i-th piece
///     };
///
/// and optionally more:
///
///     std::uint64_t history() const;  // units before its first that a host must read as well; default: 0
///     // announces pieces while it reads:
///     std::uint64_t read(number, carried&, unit&, pieces_ready const& ready) const;
///     // reads the first unit of a share, and its history:
///     std::uint64_t read_first(number, carried&, unit&, pieces_ready const& ready) const;
///     result process(packet const& p, std::size_t i, worker_info const& where) const;
template <class Job>
concept multi_host_job = requires(Job const& job, typename Job::unit const& u, std::uint64_t n) {
  typename Job::carried;
  typename Job::result;
  { job.cut(u, n, n) } -> detail::becomes<typename Job::packet>;
} && detail::reads_units<Job> && detail::processes_pieces<Job>;

/// Reads units 0 to units - 1 in groups of ranks, processes their pieces, and gives each result
/// once to `sink(unit, piece, result&&)`. By default the sink is called on the root, in order of
/// unit and piece, so that its output has the same bytes for every number of ranks, every grouping,
/// and after losses.
///
/// Collective: every rank of `ctx` makes the same call. The host of each group reads a contiguous
/// share of the units in order, with `job.read(number, carried, into)`; `carried` is its state from
/// unit to unit, new at the beginning of a share. `job.cut(unit, first, count)` copies neighbouring
/// pieces out of a unit; it is called under a lock at any time, also while units are read, and
/// should only copy. The compute threads of all ranks call `job.process(packet, i)` concurrently.
/// All functions are called on a const object. A host holds at most measures.read_ahead + 2 units. The
/// sink is called by one thread at a time, and may return results::flow::stop.
///
/// Losses: the pieces of a lost worker go to other ranks. Another rank takes over the share of a
/// lost host, from the first unit whose results have not reached the root. Each result counts once.
///
/// Throws, on every rank and after the run has drained: task_error when a function of the job or a
/// sink on a host throws, sink_error when the sink on the root throws, both with the unit as task
/// number; usage_error for choices that exclude each other; protocol_error when the ranks do not
/// make the same call; lost_rank_error, on the other ranks, when the root is lost and the body of run_main
/// cannot run again.
///
/// Source: [Bajaj93, §4 and §5]. docs/reference/multi-host.md has an example and explains each option.
template <class Job, class Sink>
result<void> multi_host(context& ctx, std::uint64_t units, Job const& job, Sink&& sink,
                        multi_host_options const& options = {});

}  // namespace skel

#include "skel/detail/group_adapter.hpp"
