// What a skeleton call returns: who did how much, in how much time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skel {

/// One rank's share of a run. Seconds are wall seconds of this rank, summed over its compute threads.
struct rank_report {
  int rank = 0;
  std::string host;
  int threads = 0;          ///< compute threads; 0: a root that only serves
  std::uint64_t tasks = 0;  ///< tasks this rank has finished (also those another rank was first with)
  double busy_seconds = 0;  ///< inside the task function
  double idle_seconds = 0;  ///< waiting with nothing to compute
  double communication_seconds = 0;  ///< packing, sending, receiving, unpacking, deciding, and the sink
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< peak resident set of the process; 0: not measured
};

/// One part of a run that the cost model has a term for: divide-and-conquer fills these, level by level.
struct phase_report {
  std::string phase;        ///< "divide", "sequential", "exchange" or "combine"
  int level = 0;            ///< 0: the whole problem; each division adds one
  double seconds = 0;       ///< wall seconds, the maximum over the ranks
  std::uint64_t bytes = 0;  ///< sent, of the rank that sent most
  /// What the user's job measured of the problem at hand, e.g. {"M", 65536}: the variables of a fit.
  std::vector<std::pair<std::string, double>> sizes;
};

/// What a multi_host run says of its groups. Seconds of a unit are of one rank, means over all units.
struct group_report {
  std::vector<int> sizes;         ///< ranks of each group, as they were formed
  bool size_found = false;        ///< by the run itself, from the first units
  std::uint64_t reassigned = 0;   ///< ranks that went to another group, as theirs was through
  std::uint64_t split = 0;        ///< shares whose end such ranks lead as a group of their own
  std::uint64_t taken_over = 0;   ///< shares of lost hosts that another rank took over
  std::uint64_t units_read = 0;   ///< history and units read again after a loss included
  double read_seconds = 0;        ///< per unit read
  double compute_seconds = 0;     ///< per unit: all its pieces
  double send_seconds = 0;        ///< per unit: cutting and packing what travels
  double sink_seconds = 0;        ///< per unit: in the sink on the root; 0 where hosts have sinks
  double preload_seconds = 0;     ///< before the clock started; not in report::seconds
  double host_idle_seconds = 0;   ///< mean over the ranks that led a group at the beginning
  double slave_idle_seconds = 0;  ///< mean over the others; their
  double slave_idle_spread = 0;   ///< greatest idle time minus the least
};

/// What checkpoints have cost, and what they were good for.
struct checkpoint_report {
  std::uint64_t restored_tasks = 0;  ///< found in the store and not done again
  std::uint64_t restored_generation = 0;
  std::uint64_t saved = 0;   ///< checkpoints that were committed
  std::uint64_t failed = 0;  ///< that could not be written
  std::uint64_t bytes = 0;   ///< of what was saved last, before it was coded
  /// Seconds for which the computation stood still.
  double blocked_seconds = 0;
  /// Seconds of work for it: packing what stays on this rank, coding with hashing, shards on their way to
  /// other ranks' disks, handing bytes to files, waiting until they are durable. All but the first in a
  /// thread of its own.
  double serialise_seconds = 0, code_seconds = 0, transfer_seconds = 0, write_seconds = 0, sync_seconds = 0;
};

/// The report of one run. `per_rank` is complete on the root; elsewhere it holds the rank's own row only.
struct report {
  std::string skeleton;  ///< "farm"
  std::string schedule;  ///< as any_schedule prints it, e.g. "guided:min=1"
  std::string results;   ///< "streamed" or "concentrated"
  int ranks = 0;
  int threads_per_rank = 0;  ///< of the root
  std::uint64_t tasks = 0;   ///< tasks whose results reached the sink
  double seconds = 0;        ///< wall seconds from the call to its return
  double busy_share = 0;     ///< busy seconds over (seconds x compute threads of all ranks)
  bool stopped_early = false;
  std::vector<int> lost_ranks;
  std::uint64_t tasks_handed_out_again = 0;
  std::optional<std::uint64_t> steals;  ///< only where the schedule steals
  std::uint64_t messages = 0;           ///< sent by all ranks
  std::uint64_t bytes = 0;              ///< payload and headers, sent by all ranks
  std::vector<rank_report> per_rank;
  std::vector<phase_report> phases;             ///< on the root; empty where the skeleton has no phases
  std::optional<group_report> groups;           ///< on the root, of multi_host only
  std::optional<checkpoint_report> checkpoint;  ///< on the root, where there were any
};

/// What a skeleton call returns, on every rank: its value, where it has one, and the report.
///
///     auto const [nodes, report] = skel::ring_steal(ctx, source, job);
///     double const seconds = skel::farm(ctx, source, f, schedule, sink).report.seconds;
template <class T>
struct result {
  T value{};
  skel::report report{};
};
/// Of a call that gives its results to a sink.
template <>
struct result<void> {
  skel::report report{};
};

}  // namespace skel
