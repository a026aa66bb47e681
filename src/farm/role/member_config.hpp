// The configuration of a farm's member.
#pragma once

#include <optional>

#include "protocol/outcome.hpp"
#include "skel/detail/task_range.hpp"
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

struct farm_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;  ///< hash of skeleton, schedule, task count and types: equal on every rank
  int threads = 1;
  double power = 0;      ///< measured relative power; 0: unknown
  bool asks = true;      ///< requests more tasks from the root
  bool computes = true;  ///< false: takes part without running tasks
  results_policy results;
  /// Ticks after which concentrated results are sent before the end, so that the root can record them; 0:
  /// never.
  unsigned send_after_ticks = 0;
  double interval = 0;                     ///< seconds of work for which streamed results wait for others
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

}  // namespace skel::role
