// multi_host: units that are read in order, in groups of ranks with a host each; slaves process their pieces.
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
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/group_job.hpp"
#include "skel/report.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Where the results of a unit go when all are there.
enum class unit_results : std::uint8_t {
  in_order,      ///< to the sink on the root, unit by unit; what comes early waits there
  as_they_come,  ///< to the sink on the root, each unit as a whole, its pieces in order
  on_hosts       ///< to the sink on the host that led the unit, and nowhere else
};

/// Measures of the paper and of this library against ranks that wait. The defaults are the best that we know;
/// each can be switched off, to see what it is worth, or to repeat the paper's experiments
/// (docs/multi-host.md).
struct multi_host_measures {
  bool measure_power = false;  ///< a short probe finds the ranks' power, instead of multi_host_options::power
  bool reassign = true;  ///< ranks of a group that is through go to others, in proportion to what is left
  /// Ranks of a group that is through lead the end of another one's share themselves, where enough whole
  /// units are left that nobody has begun to read; false: they only help, as in the paper.
  bool split_shares = true;
  /// Units: a group with no more than so much left to give is left alone, no ranks go there any more. The
  /// paper has 0.5 (section 5.2). 0: as long as there is anything.
  double reassign_down_to = 0.125;
  bool host_helps = true;    ///< hosts process pieces, too, while there is nothing to read
  bool host_listens = true;  ///< false: requests wait while the host reads or processes
  unsigned read_ahead = 1;   ///< units that are read before anybody needs them; 0: when all pieces are given
  bool preload = false;  ///< each host reads its first unit before anything is given, and the clock starts
  std::uint64_t least_pieces = 1;  ///< of a packet: neighbours travel together
  bool shrinking = true;           ///< packets shrink with what is left; false: least_pieces each
  /// A packet keeps a slave busy for about so long at most, by what its latest pieces took; 0: no limit. Who
  /// comes to help later finds something to do.
  double packet_seconds = 0.02;
  bool early_requests = true;  ///< a slave asks when `threshold` pieces are left; false: when it is idle
  std::uint64_t threshold = 1;
  /// Packets of a host under way and not received: 1 synchronous, 2 the paper's, 0 any number.
  unsigned buffers = 0;
  std::size_t results_level = std::size_t{64} * 1024;  ///< bytes of results that a slave keeps; 0: none
};

/// Everything about a multi_host call beside units, job and sink. The same on every rank.
struct multi_host_options {
  /// Ranks per group: 1 is the symmetric partition, all of them the host-slave partition. 0: found from the
  /// times of the first units, and told in the report.
  unsigned group_size = 0;
  /// Relative power of the ranks: groups of about equal power, shares in proportion. Empty: all alike.
  std::vector<double> power{};
  /// What the sink on the root takes of a unit, of what it takes to read and process it (of a run before:
  /// report groups->sink_seconds). The root leads so much less, and all ranks end together. 0: next to
  /// nothing.
  double sink_cost = 0;
  unit_results results = unit_results::in_order;
  /// A piece that was being processed on this number of lost ranks, or a unit that was open on this number of
  /// lost hosts, ends the run with a task_error. 0: never, any number of ranks may be lost to it.
  unsigned max_losses_per_task = 2;
  std::stop_token stop{};                      ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early
  std::string label{};                         ///< for progress and trace; default: "multi_host"
  multi_host_measures paper{};                 ///< what an experiment switches off
};

/// How a job says, while it reads a unit, that its first n pieces are there: they may be processed at once.
using pieces_ready = std::function<void(std::uint64_t)>;

/// Satisfied by a type that names its parts and has the three operations:
///
///     struct isosurfaces {
///       using carried = last_slices;    // what a host keeps from unit to unit; default constructible
///       using unit = layer;             // what it has read; default constructible
///       using packet = rows;            // neighbouring pieces of a unit, all that a slave needs
///       using result = polygons;        // of one piece
///       std::uint64_t read(std::uint64_t number, carried& c, unit& into) const;   // the number of pieces
///       packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const;
///       result process(packet const& p, std::size_t i) const;                     // the packet's i-th piece
///     };
///
/// It may have more:
///
///       std::uint64_t history() const;  // units before its first that a host must read, too. Default: 0
///       // tells what is there:
///       std::uint64_t read(number, carried&, unit&, pieces_ready const& ready) const;
///       // reads the history as well:
///       std::uint64_t read_first(number, carried&, unit&, pieces_ready const& ready) const;
///       result process(packet const& p, std::size_t i, worker_info const& where) const;
template <class Job>
concept multi_host_job =
    requires(Job const& job, typename Job::unit const& u, std::uint64_t n) {
      typename Job::carried;
      typename Job::result;
      { job.cut(u, n, n) } -> detail::becomes<typename Job::packet>;
    } && (detail::reads_whole<Job> || detail::reads_in_parts<Job>)&&(detail::processes<Job> ||
                                                                     detail::processes_with_worker<Job>);

/// Reads units 0 ... units - 1 in groups of ranks, processes their pieces, and gives each result once to
/// `sink(unit, piece, result&&)`: on the root, by default in order of unit and piece, so that what the sink
/// writes has the same bytes for every number of ranks, grouping, re-assignment and loss.
///
/// Collective: every rank of `ctx` makes the same call. Each group reads a contiguous share of the units, one
/// after the other, on its host: `job.read(number, carried, into)`, where `carried` is what the host keeps
/// from unit to unit (new at the beginning of a share). `job.cut(unit, first, count)` takes neighbouring
/// pieces out of a unit; it is called at any time, also while the same or another unit is read, under a lock:
/// copying is what it is for. `job.process(packet, i)` is called concurrently by the compute threads of all
/// ranks. All on a const object. A host holds paper.read_ahead + 2 units at most. The sink is called by one
/// thread at a time; it may return flow::stop.
///
/// Losses: a lost slave's pieces are given to others; another rank takes over a lost host's share from its
/// first unit whose results have not reached the root. Results count once.
///
/// Throws, on every rank and after the run has drained: task_error when a function of the job (or a sink on a
/// host) throws, with the unit as its task number; sink_error when the sink on the root throws, likewise;
/// usage_error for choices that exclude each other; protocol_error when the ranks do not make the same call;
/// lost_rank_error elsewhere when the root is lost.
///
/// Source: Bajaj and Lin, "Scalar field modeling & visualization on the Intel Delta", sections 4 and 5.
/// docs/multi-host.md has an example and says what each option is worth.
template <class Job, class Sink>
result<void> multi_host(context& ctx, std::uint64_t units, Job const& job, Sink&& sink,
                        multi_host_options const& options = {});

}  // namespace skel

#include "skel/detail/group_adapter.hpp"
