// Actions: what a role of the farm asks for in answer to an event.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "farm/role/message.hpp"

namespace skel::role {

namespace farm {
using role::operator==;

/// Send `what` to `to`. Messages to the role's own rank are delivered at once.
struct send {
  rank_id to = 0;
  farm_message what{};
};
/// Run these tasks on a compute thread and answer with finished() or failed().
struct execute {
  task_range range{};
};
/// Pass the results of these tasks, which came with the current message, to the sink.
struct record {
  task_range range{};
};
/// Pass this version of an audited task's results to the sink, and drop the others.
struct accept {
  task_id task = 0;
  std::uint64_t version = 0;
};
/// With audits, recorded results wait: now those of this rank go to the sink, ...
struct release {
  rank_id rank = 0;
};
/// ... or are dropped, because the rank is at fault.
struct discard {
  rank_id rank = 0;
};
/// Drop the payloads of these tasks.
struct forget {
  task_range range{};
};

/// This task will have no result: it failed this many times, last on `rank`.
struct leave_out {
  task_id task = 0;
  rank_id rank = 0;
  unsigned times = 0;
  std::string text{};
  bool ended_ranks = false;  ///< so it failed
  bool late = false;         ///< it was not started, since it could not end before the time limit
};

}  // namespace farm

/// `drain` drops unsent results and the payloads of waiting tasks.
using farm_action =
    std::variant<farm::send, tell_root, farm::execute, farm::record, farm::accept, farm::release,
                 farm::discard, farm::forget, farm::leave_out, close, role::abort, drain, end, fail>;
using farm_actions = std::vector<farm_action>;

}  // namespace skel::role
