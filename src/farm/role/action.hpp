// What a role wants done in answer to an event.
#pragma once

#include <variant>
#include <vector>

#include "skel/protocol/message.hpp"

namespace skel::protocol {

using rank_id = int;

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
/// The run is over on this rank.
struct end {
  outcome how;
  friend bool operator==(end const&, end const&) = default;
};
/// The run cannot go on: the ranks do not agree, or the root is gone.
struct fail {
  enum class reason : std::uint8_t { protocol, lost_root } why = reason::protocol;
  std::string text;
  friend bool operator==(fail const&, fail const&) = default;
};

using action = std::variant<send, execute, record, forget, end, fail>;
using actions = std::vector<action>;

}  // namespace skel::protocol
