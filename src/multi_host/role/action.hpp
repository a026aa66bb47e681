// Actions that the roles of a multi_host call ask the engine to perform.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "multi_host/role/message.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// Hosts report their remaining work in steps of this size.
inline constexpr std::uint64_t unit_step = whole_unit / 8;
/// A group with at most this much work left takes no ranks from others by default: an eighth of a unit. The
/// paper uses half a slice [Bajaj93, §5.2]; with few units per group, that leaves an eighth of the machine
/// idle at the end.
inline constexpr std::uint64_t default_left_alone = whole_unit / 8;

/// A packet on a worker; the worker numbers its packets itself.
using packet_id = std::uint64_t;

namespace group_act {
using role::operator==;

/// Send `what` to `to`, possibly this rank itself. The engine attaches the pieces, cut from their unit, to
/// `packet`; the results of its runs to `returned`; the results of the unit to `unit_done`.
struct send {
  rank_id to = 0;
  group_message what;
};

// --- of a host, about its current term
/// Read this unit on a compute thread. Call readied() as pieces become available, and was_read() at the end.
/// `fresh`: the host is new and its carried state empty. `alone`: start only while nothing else runs on the
/// rank and its worker has no work; call opens() first.
struct read {
  term_id term = 0;
  std::uint64_t unit = 0;
  bool fresh = false;
  bool alone = false;
};
/// Keep the results of these pieces. They came with the current event and are the first for their pieces.
struct keep {
  piece_run pieces;
};
/// The unit has all its results; call delivered() when they may leave.
struct deliver {
  term_id term = 0;
  std::uint64_t unit = 0;
};
/// This rank no longer leads: drop its units, results and carried state.
struct close {};

// --- of a worker
/// Store the packet that came with the current event as packet `id`.
struct accept {
  packet_id id = 0;
  term_id term = 0;
  piece_run pieces;
};
/// Process these pieces of a packet on a compute thread and call finished(). Start nothing else while the
/// worker runs_alone().
struct execute {
  packet_id id = 0;
  piece_run pieces;
};
/// Drop packets and results of this term.
struct forget {
  term_id term = 0;
};

// --- of the root
/// Pass the results in the current message to the sink. They are the first for their unit.
struct record {
  std::uint64_t unit = 0;
};
/// Start the clock: every host has read its first units.
struct started {};
}  // namespace group_act

/// drain: call quiet() once no thread is inside the user's functions.
using group_action = std::variant<group_act::send, group_act::read, group_act::keep, group_act::deliver,
                                  group_act::close, group_act::accept, group_act::execute, group_act::forget,
                                  group_act::record, group_act::started, tell_root, drain, end, fail>;
using group_actions = std::vector<group_action>;

}  // namespace skel::role
