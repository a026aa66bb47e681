// What the roles of a multi_host call want done.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "multi_host/role/message.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// Hosts report what is left in steps of this.
inline constexpr std::uint64_t unit_step = whole_unit / 8;
/// A group with no more than this left takes no ranks from others, unless the call says otherwise: an eighth
/// of a unit. The paper has half a slice [Bajaj93, §5.2]; with few units per group that leaves an eighth of
/// the machine idle at the end.
inline constexpr std::uint64_t default_left_alone = whole_unit / 8;

/// A packet on a worker, by the worker's own number.
using packet_id = std::uint64_t;

namespace group_act {
/// Send `what` to `to`, perhaps this rank itself. The engine attaches: to `packet` the pieces, cut from their
/// unit; to `returned` the results of its runs; to `unit_done` the results of the unit.
struct send {
  rank_id to = 0;
  group_message what;
  friend bool operator==(send const&, send const&) = default;
};

// --- of a host; all of them about its present term
/// Read this unit on a compute thread and answer with was_read(), perhaps with readied() before. `fresh`: a
/// new host, whose carried state is empty. `alone`: begin while nothing else runs on the rank and its worker
/// has nothing, and say so before with opens().
struct read {
  term_id term = 0;
  std::uint64_t unit = 0;
  bool fresh = false;
  bool alone = false;
  friend bool operator==(read const&, read const&) = default;
};
/// The results of these pieces came with the event just handled, and are the first: keep them.
struct keep {
  piece_run pieces;
  friend bool operator==(keep const&, keep const&) = default;
};
/// All results of the unit are here; answer with delivered() when they may leave.
struct deliver {
  term_id term = 0;
  std::uint64_t unit = 0;
  friend bool operator==(deliver const&, deliver const&) = default;
};
/// This rank leads no longer: its units, results and carried state are not needed.
struct close {
  friend bool operator==(close const&, close const&) = default;
};

// --- of a worker
/// What came with the event just handled is packet `id`.
struct accept {
  packet_id id = 0;
  term_id term = 0;
  piece_run pieces;
  friend bool operator==(accept const&, accept const&) = default;
};
/// Process these pieces of a packet on a compute thread and answer with finished(). Nothing else begins while
/// the worker runs_alone().
struct execute {
  packet_id id = 0;
  piece_run pieces;
  friend bool operator==(execute const&, execute const&) = default;
};
/// Packets and results of this term are not needed any more.
struct forget {
  term_id term = 0;
  friend bool operator==(forget const&, forget const&) = default;
};

// --- of the arbiter
/// The results that came with the message just handled are the first of their unit: to the sink.
struct record {
  std::uint64_t unit = 0;
  friend bool operator==(record const&, record const&) = default;
};
/// The clock starts: every host has read its first units.
struct started {
  friend bool operator==(started const&, started const&) = default;
};
}  // namespace group_act

/// drain: answer with quiet() when no thread is inside the user's functions.
using group_action = std::variant<group_act::send, group_act::read, group_act::keep, group_act::deliver,
                                  group_act::close, group_act::accept, group_act::execute, group_act::forget,
                                  group_act::record, group_act::started, tell_root, drain, end, fail>;
using group_actions = std::vector<group_action>;

}  // namespace skel::role
