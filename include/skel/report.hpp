// The result of a skeleton call: its value, and a report of the work and time of each rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skel {

/// One rank's share of a run. Seconds are wall seconds of this rank, summed over its compute
/// threads.
struct rank_report {
  int rank = 0;             ///< in the context
  std::string host;         ///< its host's name, see context_options::machine
  int threads = 0;          ///< compute threads; 0: the root only serves
  std::uint64_t tasks = 0;  ///< finished by this rank, including those that another rank finished first
  double busy_seconds = 0;  ///< inside the task function
  double idle_seconds = 0;  ///< waiting without work
  double communication_seconds = 0;     ///< packing, sending, receiving, unpacking, scheduling, and the sink
  std::uint64_t messages_sent = 0;      ///< to other ranks
  std::uint64_t bytes_sent = 0;         ///< payload and headers
  std::uint64_t peak_memory_bytes = 0;  ///< peak resident set of the process; 0: not measured
};

/// One phase of a run that has a term in the cost model. divide_and_conquer reports phases level by
/// level.
struct phase_report {
  std::string phase;        ///< "divide", "sequential", "exchange" or "combine"
  int level = 0;            ///< 0: the whole problem; each division adds 1
  double seconds = 0;       ///< wall seconds, the maximum over the ranks
  std::uint64_t bytes = 0;  ///< sent; the maximum over the ranks
  /// The result of the job's measure(), e.g. {"M", 65536}: the variables of a fit.
  std::vector<std::pair<std::string, double>> sizes;
};

/// The groups of a multi_host run. Seconds per unit are those of one rank, averaged over all units.
struct group_report {
  std::vector<int> sizes;          ///< ranks of each group at the beginning
  bool size_found = false;         ///< whether the run chose the group size, from its first units
  std::uint64_t reassigned = 0;    ///< ranks that joined another group after their own had finished
  std::uint64_t split = 0;         ///< shares whose end such ranks took over as a new group
  std::uint64_t taken_over = 0;    ///< shares of lost hosts that another rank took over
  std::uint64_t units_read = 0;    ///< including history and units read again after a loss
  double read_seconds = 0;         ///< per unit read
  double compute_seconds = 0;      ///< per unit: all its pieces
  double send_seconds = 0;         ///< per unit: cutting and packing the pieces
  double sink_seconds = 0;         ///< per unit: in the sink on the root; 0 where hosts have sinks
  double preload_seconds = 0;      ///< before the clock started; not in report::seconds
  double host_idle_seconds = 0;    ///< mean over the ranks that led a group at the beginning
  double worker_idle_seconds = 0;  ///< mean over the other ranks
  double worker_idle_spread = 0;   ///< their longest idle time minus their shortest, in seconds
};

/// The checkpoints of a run. A separate thread spends all of these seconds, except
/// `blocked_seconds` and packing.
struct checkpoint_report {
  std::uint64_t restored_tasks = 0;       ///< found in the store or remembered, and not run again
  std::uint64_t restored_generation = 0;  ///< the generation that the run resumed from; 0: none
  double restore_seconds = 0;             ///< reading it, on the root
  std::uint64_t saved = 0;                ///< checkpoints that were committed
  std::uint64_t failed = 0;               ///< checkpoints that could not be written
  std::uint64_t bytes = 0;                ///< size of the latest one with its bases, before coding
  std::uint64_t written_bytes = 0;        ///< by all checkpoints of this run, before coding
  double blocked_seconds = 0;             ///< seconds for which the computation was paused
  double serialise_seconds = 0;           ///< packing
  double code_seconds = 0;                ///< erasure coding and hashing
  double transfer_seconds = 0;            ///< sending shards to other ranks' disks
  double write_seconds = 0;               ///< writing files
  double sync_seconds = 0;                ///< waiting until files are durable
};

/// A task that a farm left out because it failed, see farm_options::on_error.
struct task_failure {
  std::uint64_t task = 0;    ///< its number
  int rank = 0;              ///< where it failed last
  unsigned times = 0;        ///< how often it failed, or how many ranks it ended
  std::string text;          ///< of its last exception
  bool ended_ranks = false;  ///< it threw nothing: ranks were lost while they ran it
};

/// A rank whose result of a task differs from that of two others, see farm_options::audit.
struct faulty_rank {
  int rank = 0;                      ///< in the context
  std::uint64_t task = 0;            ///< the task that showed it
  std::uint64_t computed_again = 0;  ///< its results that other ranks computed again
  /// Its results that the sink had received by then, which may be wrong: first and last task of each
  /// interval, in ascending order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> in_sink;
};

/// The audits of a farm, see farm_options::audit.
struct audit_report {
  std::uint64_t checked = 0;          ///< tasks on whose result two ranks agree
  std::uint64_t unchecked = 0;        ///< audited tasks that no other rank was left to repeat
  std::vector<faulty_rank> at_fault;  ///< in the order in which they were found
};

/// The needs of the tasks of a farm, see farm_options::per_task::needs.
struct needs_report {
  std::uint64_t memory = 0;       ///< bytes that the largest rank may use
  unsigned threads = 0;           ///< cores that the widest rank may use
  std::uint64_t not_started = 0;  ///< tasks that could not end before the time limit
};

/// The tasks that a team of ranks ran together, see farm_options::per_task::team_size.
struct team_report {
  std::vector<int> ranks;   ///< of the team, its root first
  std::uint64_t tasks = 0;  ///< whose results count
};

/// How the loss of a rank was noticed.
enum class loss_notice : std::uint8_t {
  silence,     ///< nothing was heard of it for context_options::suspect_after_seconds: it may live
  ended,       ///< its process has ended, for certain
  mpi,         ///< MPI reports it
  agreed,      ///< the others have agreed to go on without it
  connection,  ///< its process has ended, for certain, and so closed its connection to another host
  retired,     ///< it has left, because it was asked to: context::retire()
};

/// A rank that the job has lost.
struct rank_loss {
  int rank = 0;           ///< in the job: its number at the beginning, under the launcher
  int attempt = 1;        ///< in which it was noticed, see context::attempt()
  bool was_root = false;  ///< of that attempt, which ended with it
  loss_notice noticed = loss_notice::silence;  ///< by the first rank that noticed it
  /// For how long this rank had heard nothing of it, to the interval of heartbeats; 0: not measured.
  double silent_seconds = 0;
};

/// The part of a bsp run whose state this rank has, see skel::gather(). A rank that is lost during the run
/// has none, nor has one that only seemed lost: the others have divided the parts among themselves.
struct part_report {
  int index = 0;           ///< 0 to ranks.size() - 1: the `rank` that the program had at the end
  std::vector<int> ranks;  ///< in the context, by part; fewer than those of the context after a loss
  std::uint64_t run = 0;   ///< equal for the parts of one run only
};

/// The report of one run.
struct report {
  std::string skeleton;        ///< "farm"
  std::string schedule;        ///< as any_schedule prints it, e.g. "guided:min=1"
  std::string results;         ///< "streamed" or "concentrated"
  int ranks = 0;               ///< of the context
  int threads_per_rank = 0;    ///< compute threads of the root
  std::uint64_t tasks = 0;     ///< tasks whose results reached the sink
  double seconds = 0;          ///< wall seconds from the call to its return
  double busy_share = 0;       ///< busy seconds over (seconds x compute threads of all ranks)
  bool stopped_early = false;  ///< by a stop condition, the time limit or the sink, or tasks were not started
  std::vector<int> lost_ranks;                  ///< ranks lost during the run
  std::vector<int> lost_before;                 ///< ranks of the context that were lost before it
  int attempt = 1;                              ///< see context::attempt()
  int spares = 0;                               ///< ranks that waited when the job began
  std::vector<rank_loss> losses;                ///< all those of the job so far, as this rank knows them
  std::uint64_t tasks_handed_out_again = 0;     ///< after losses
  std::vector<task_failure> failed_tasks;       ///< on the root, by task: left out by on_error::collect
  std::optional<audit_report> audit;            ///< on the root, of farms with audits only
  std::optional<needs_report> needs;            ///< on the root, of farms with needs only
  std::vector<team_report> teams;               ///< on the root, of farms with teams only
  std::optional<std::uint64_t> steals;          ///< only where the schedule steals
  std::uint64_t messages = 0;                   ///< sent by all ranks
  std::uint64_t bytes = 0;                      ///< payload and headers, sent by all ranks
  std::vector<rank_report> per_rank;            ///< complete on the root; elsewhere this rank's own row
  std::vector<phase_report> phases;             ///< on the root; empty where the skeleton has no phases
  std::optional<part_report> part;              ///< this rank's, of bsp only
  std::optional<group_report> groups;           ///< on the root, of multi_host only
  std::optional<checkpoint_report> checkpoint;  ///< on the root; empty without any of this

  /// The special members are compiled in the library: inline, they cost each file 0.02 s.
  report();
  report(report const&);
  report(report&&) noexcept;
  report& operator=(report const&);
  report& operator=(report&&) noexcept;
  ~report();
};

/// The value of a skeleton call and its report, on every rank.
///
///     auto const [nodes, report] = skel::ring_steal(ctx, source, job);
///     double const seconds = skel::farm(ctx, source, f, schedule, sink).report.seconds;
template <class T>
struct result {
  T value{};              ///< defined by the skeleton
  skel::report report{};  ///< of this run
};
/// The report of a call that gives its results to a sink.
template <>
struct result<void> {
  skel::report report{};  ///< of this run
};

}  // namespace skel
