// What a role wants done in answer to an event.
#pragma once

#include <variant>
#include <vector>

#include "farm/role/message.hpp"

namespace skel::role {

/// Send `what` to `to`; a role may send to its own rank, the engine then delivers it at once.
struct send {
  rank_id to = 0;
  message what;
  friend bool operator==(send const&, send const&) = default;
};
/// Run these tasks on a compute thread and answer with finished() or failed().
struct execute {
  task_range range;
  friend bool operator==(execute const&, execute const&) = default;
};
/// Give the results of these tasks, which came with the message just handled, to the sink.
struct record {
  task_range range;
  friend bool operator==(record const&, record const&) = default;
};
/// The payloads of these tasks are not needed any more.
struct forget {
  task_range range;
  friend bool operator==(forget const&, forget const&) = default;
};
using action = std::variant<send, execute, record, forget, end, fail>;
using actions = std::vector<action>;

}  // namespace skel::role
