// The configurations of a farm's members and root.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/outcome.hpp"
#include "protocol/task_costs.hpp"
#include "skel/detail/task_range.hpp"
#include "skel/on_error.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_ring_config {
  /// The ring of ranks to steal from when the root has no (more) tasks: `first` ... `ranks` - 1; 0: none.
  rank_id first = 0;
  rank_id ranks = 0;
  schedule::steal_size take = schedule::steal_size::half;
  schedule::steal_end give = schedule::steal_end::last;
  schedule::ring_order order = schedule::ring_order::successors;
  bool copies = false;    ///< may give and run copies of running tasks
  bool directed = false;  ///< the root names the victims
};

/// How long results wait for others.
struct results_wait {
  /// Ticks after which concentrated results are sent before the end, so that the root can record them; 0:
  /// never.
  unsigned ticks = 0;
  double seconds = 0;  ///< of work, for streamed results
  friend bool operator==(results_wait const&, results_wait const&) = default;
};

struct farm_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;  ///< hash of skeleton, schedule, task count and types: equal on every rank
  int threads = 1;
  double power = 0;      ///< measured relative power; 0: unknown
  bool asks = true;      ///< requests more tasks from the root
  bool computes = true;  ///< false: takes part without running tasks
  results_policy results;
  results_wait wait{};
  std::optional<std::uint64_t> threshold;  ///< in tasks; empty: as many as cover a round trip
  bool early = true;                       ///< may request more while its last tasks run
  bool fresh = false;                      ///< requests tasks for idle threads only
  range_list share;                        ///< the tasks that it starts with
  std::uint64_t costly = 0;                ///< this many tasks, the first ones, are not to be waited for
  farm_ring_config ring{};

  [[nodiscard]] bool on_ring() const { return computes && ring.ranks > 0; }
  [[nodiscard]] bool directed() const { return on_ring() && ring.directed; }
  friend bool operator==(farm_member_config const&, farm_member_config const&) = default;
};

struct farm_task_list {
  std::optional<std::uint64_t> tasks{};  ///< empty: a stream, which supplied() extends until it ends
  task_costs costs{};                    ///< if known: in decreasing order, and 1 on average
  std::uint64_t costly = 0;              ///< this many tasks, the first ones, are granted one at a time
  /// This run continues an earlier one: the root deals the remaining tasks even if these could compute
  /// their shares of the whole list.
  bool resumed = false;
  /// Ranks may have results of the tasks already, which they send before they say hello: nothing is given
  /// before all living ranks have.
  bool recalled = false;
  range_list restored{};  ///< tasks with results from the earlier run; they are not given
};

/// A rank that was the root in an earlier attempt at the run, and was lost.
struct former_root {
  rank_id name = 0;      ///< negative: -1 less its number in the job
  range_list running{};  ///< tasks that it ran then
  bool from_outside = false;
  friend bool operator==(former_root const&, former_root const&) = default;
};

/// What a rank has for its tasks, or what a task needs.
struct task_room {
  std::uint64_t memory = 0;  ///< bytes
  std::uint64_t threads = 0;
  [[nodiscard]] bool fits(task_room const& needed) const {
    return needed.memory <= memory && needed.threads <= threads;
  }
  friend bool operator==(task_room const&, task_room const&) = default;
};

struct farm_audit_config {
  /// This share of the tasks, 0 to 1, runs on two ranks whose results must agree; not with `merged`.
  double share = 0;
  /// All results wait until the last audit is settled; otherwise those of a rank wait while one of its
  /// audited results is in doubt.
  bool holds = false;
};

struct farm_losses_config {
  /// The run ends with an error when this many lost ranks were running the same task; 0: never.
  unsigned most = 0;
  std::vector<former_root> former_roots{};
  friend bool operator==(farm_losses_config const&, farm_losses_config const&) = default;
};

struct farm_root_config {
  rank_id root = 0;
  rank_id ranks = 0;            ///< of the run, the root included
  rank_id first_computing = 0;  ///< this rank and those after it compute
  farm_task_list list;
  farm_policy policy;
  bool ordered = false;      ///< the sink takes tasks in order: the window counts from the first missing one
  bool merged = false;       ///< results of several tasks come as one value: all are recorded, or none
  std::uint64_t window = 0;  ///< most tasks given out whose results the sink has not received; 0: no limit
  /// With shrinking grants, the largest first grant to another rank; the limit grows fourfold with each
  /// grant, since the cost of handling results is unknown before the first arrive. 0: no limit.
  std::uint64_t first_grant = 0;
  bool root_in_place = false;  ///< the root computes where results are kept: no copies of what it runs
  std::uint64_t call_hash = 0;
  farm_losses_config losses{};
  error_policy on_error{};
  farm_audit_config audit{};
  std::vector<task_room> rooms{};  ///< of each rank; empty: no task needs any

  [[nodiscard]] rank_id computing() const { return ranks - first_computing; }
  /// Whether the root names victims to idle ranks.
  [[nodiscard]] bool directs() const { return policy.more == schedule::more_from::root_then_ranks; }
  friend bool operator==(farm_root_config const&, farm_root_config const&) = default;
};

}  // namespace skel::role
