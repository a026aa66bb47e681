// The configuration of a farm's root.
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

struct farm_task_list {
  std::optional<std::uint64_t> tasks{};  ///< empty: a stream, which supplied() extends until it ends
  task_costs costs{};                    ///< if known: in decreasing order, and 1 on average
  std::uint64_t costly = 0;              ///< this many tasks, the first ones, are granted one at a time
  /// This run continues an earlier one: the root deals the remaining tasks even if workers could compute
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

struct farm_root_config {
  rank_id root = 0;
  rank_id ranks = 0;         ///< of the run, the root included
  rank_id first_worker = 0;  ///< this rank and those after it compute
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
  /// The run ends with an error when this many lost ranks were running the same task; 0: never.
  unsigned most_losses = 0;
  std::vector<former_root> former_roots{};
  error_policy on_error{};
  farm_audit_config audit{};
  std::vector<task_room> rooms{};  ///< of each rank; empty: no task needs any

  [[nodiscard]] rank_id workers() const { return ranks - first_worker; }
  /// Whether the root names victims to idle ranks.
  [[nodiscard]] bool directs() const { return policy.more == schedule::more_from::root_then_ranks; }
  friend bool operator==(farm_root_config const&, farm_root_config const&) = default;
};

}  // namespace skel::role
