// What a role of the farm wants done in answer to an event.
#pragma once

#include <variant>
#include <vector>

#include "farm/role/message.hpp"

namespace skel::role {

namespace farm {

/// Send `what` to `to`. A message to the role's own rank is delivered at once.
struct send {
  rank_id to = 0;
  farm_message what{};
  friend bool operator==(send const&, send const&) = default;
};
/// Run these tasks on a compute thread and answer with finished() or failed().
struct execute {
  task_range range{};
  friend bool operator==(execute const&, execute const&) = default;
};
/// Give the results of these tasks, which came with the message just handled, to the sink.
struct record {
  task_range range{};
  friend bool operator==(record const&, record const&) = default;
};
/// The payloads of these tasks are not needed any more.
struct forget {
  task_range range{};
  friend bool operator==(forget const&, forget const&) = default;
};

}  // namespace farm

/// After `drain`, results that were not sent and payloads of tasks that wait are dropped.
using farm_action =
    std::variant<farm::send, tell_root, farm::execute, farm::record, farm::forget, drain, end, fail>;
using farm_actions = std::vector<farm_action>;

}  // namespace skel::role
