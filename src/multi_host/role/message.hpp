// Messages between the ranks of a multi_host call, and actions of its roles. The engine attaches the bytes of
// pieces and results to messages.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// Identifies one appointment of a host by the root; never reused. 0: none.
using term_id = std::uint64_t;

/// Pieces [first, first + count) of a unit.
struct piece_run {
  std::uint64_t unit = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Remaining work of a group is reported in thousandths of units.
inline constexpr std::uint64_t whole_unit = 1000;

/// The term of a message to or from a host identifies the appointment that it concerns.
namespace group {
using role::operator==;

// --- from the root

/// Units [first, end) for a host to read.
struct units_to_lead {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool alone = false;  ///< open on lost hosts: read while nothing else runs on the rank, and send `opens`
  bool more = false;   ///< more units follow under the same term
};
/// To a rank: lead a group under this term. The same term again changes the end of the share, possibly after
/// the share was complete.
struct lead {
  term_id term = 0;
  units_to_lead units{};
  std::uint64_t ranks = 1;  ///< of the group, as planned
  bool waits = false;       ///< hand out nothing before `go`
};
/// To a rank: work for this host of this term from now on.
struct serve {
  std::optional<rank_id> host{};  ///< none: there is no work
  term_id term = 0;
  term_id ended = 0;  ///< everything that belongs to this term is void
};
/// To a host: every host has read its first unit; start to hand out pieces.
struct go {
  term_id term = 0;
};
/// To a host: give up the end of your share.
struct split {
  term_id term = 0;
  std::uint64_t ranks = 0;  ///< that would take it
  double power = 0;         ///< of these ranks
  double staying = 0;       ///< power of the ranks that stay
};

/// To a host: whether its own rank may process suspects, because no other rank can.
struct last_resort {
  term_id term = 0;
  bool allowed = false;
};

/// To a rank that is to leave: it is given no more work.
struct released {
  std::uint64_t number = 0;
};

// --- from a rank to the root

/// It is to leave the job (leave_request), or stays after all.
struct retires {
  std::uint64_t number = 0;  ///< of the requests of this rank
};

// --- between a member and its host

/// To the host: requests pieces.
struct request {
  term_id term = 0;
  std::uint64_t threads = 1;  ///< 0: withdraws the request; the member has moved to another host
  std::uint64_t most = 0;     ///< the most pieces it accepts; 0: no limit
};
/// To the member: these pieces, attached to the message.
struct packet {
  term_id term = 0;
  piece_run pieces{};
  bool suspect = false;  ///< a single piece of lost ranks: process it while nothing else runs on the rank
};
/// To the host: this suspect starts now, and nothing else runs on the rank.
struct begins {
  term_id term = 0;
  std::uint64_t unit = 0;
  std::uint64_t piece = 0;
};
/// To the host: the results of these pieces, attached to the message, and possibly the next request.
struct returned {
  term_id term = 0;
  std::uint64_t threads = 0;  ///< 0: requests nothing
  std::uint64_t most = 0;     ///< as in request
  std::vector<piece_run> runs{};
};

// --- from a host to the root

/// The host has read its first unit.
struct loaded {
  term_id term = 0;
};
/// The host starts to read a unit that was open on lost hosts, and nothing else runs on the rank.
struct opens {
  term_id term = 0;
  std::uint64_t unit = 0;
};
/// The work that the host has not handed out yet.
struct left {
  term_id term = 0;
  std::uint64_t amount = 0;  ///< thousandths of units
  bool suspects = false;     ///< some pieces need a rank that has nothing else
};
/// A unit has all its results. They are attached to the message, unless they stay on the host.
struct unit_done {
  term_id term = 0;
  std::uint64_t unit = 0;
};
/// The answer to `split`.
struct let_go {
  term_id term = 0;
  std::uint64_t end = 0;   ///< the new end of its share
  std::uint64_t left = 0;  ///< remaining work of the share, in thousandths of units
};

}  // namespace group

using group_message =
    std::variant<call_message, group::lead, group::serve, group::go, group::split, group::last_resort,
                 group::request, group::packet, group::begins, group::returned, group::loaded, group::opens,
                 group::left, group::unit_done, group::let_go, group::retires, group::released>;

template <>
inline constexpr unsigned first_kind<group_message> = 64;

/// Hosts report their remaining work in steps of this size.
inline constexpr std::uint64_t unit_step = whole_unit / 8;
/// A group with at most this much work left takes no ranks from others by default: an eighth of a unit. The
/// paper uses half a slice [Bajaj93, §5.2]; with few units per group, that leaves an eighth of the machine
/// idle at the end.
inline constexpr std::uint64_t default_left_alone = whole_unit / 8;

/// A packet on a member; the member numbers its packets itself.
using packet_id = std::uint64_t;

namespace group {
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
/// rank and its member has no work; call opens() first.
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

// --- of a member
/// Store the packet that came with the current event as packet `id`.
struct accept {
  packet_id id = 0;
  term_id term = 0;
  piece_run pieces;
};
/// Process these pieces of a packet on a compute thread and call finished(). Start nothing else while the
/// member runs_alone().
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
}  // namespace group

/// drain: call quiet() once no thread is inside the user's functions.
using group_action =
    std::variant<group::send, group::read, group::keep, group::deliver, group::close, group::accept,
                 group::execute, group::forget, group::record, group::started, tell_root, drain, end, fail>;
using group_actions = std::vector<group_action>;

}  // namespace skel::role
