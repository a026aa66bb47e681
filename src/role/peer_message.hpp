// What ranks say to each other in skeletons where the root is not the only one that gives work. Payloads
// (tasks, problems, results) are not part of it: the engine attaches their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "role/call_message.hpp"

namespace skel::role {

/// Kinds begin where those of the farm cannot be: ranks that make different calls notice.
enum class peer_message_kind : std::uint8_t {
  // Every skeleton: who takes part, and the end (roll_call).
  hello = 64,   ///< to the root: I am in this run. number: hash of the call
  failed,       ///< to the root: a task threw. number: which of this rank's; text
  please_stop,  ///< to the root: end the run early
  part_lost,    ///< to the root: what rank `number` had, nobody else has
  stop,         ///< root to all: start nothing more; tell me when nothing runs. number: 1 if it ends early
  stopped,      ///< to the root: nothing runs (the rank's report travels with it)
  finish,       ///< root to all: the run is over; the outcome (the result travels with it)
  abort,        ///< root to all: the run cannot go on; text says why
  // ring_steal (stealer)
  ask,            ///< thief to victim: have you tasks for me?
  nothing,        ///< victim to thief: no. number: 0, or 1 + a rank that may have some
  loan,           ///< victim to thief: these tasks. number: the loan
  paid,           ///< thief to victim: the result of loan `number`, all that its tasks spawned included
  held,           ///< lender to borrower: do you still hold the loans `ids`?
  not_held,       ///< borrower to lender: not these
  revoke,         ///< lender to borrower: loan `number` is void, drop it
  worth,          ///< borrower to lender: a result so far, and tasks, that are worth loan `number`
  returned_loan,  ///< borrower to lender: likewise, and the loan is over: the run ends early
  // divide_and_conquer (partner); ids: first and last + 1 of a group of ranks
  problem,        ///< this is the group's problem
  solution,       ///< this is the solution of the group's problem
  need_problem,   ///< please send me the group's problem
  need_solution,  ///< please send me the solution of the group's problem, as soon as you have it
  reached,        ///< to the root: the group has what this call gives it
  // multi_host (arbiter, group_host, group_worker); number: the term, an appointment of a host
  lead,       ///< arbiter: lead a group. ids: first unit, end, ranks of the group, 1 if it waits for `go`
  serve,      ///< arbiter: ask this host from now on. ids: the host, a term that is void
  go,         ///< arbiter to host: begin to give
  request,    ///< slave to host: pieces, please. ids: its threads, pieces it takes at most (0: any)
  packet,     ///< host to slave: pieces (their bytes travel with it). ids: unit, first, count, 1 for `got`
  got,        ///< slave to host: the packet is here
  returned,   ///< slave to host: results. ids: a request (threads 0: none); unit, first, count of each run
  loaded,     ///< host to arbiter: the first unit is read
  left,       ///< host to arbiter: what is not given out. ids: thousandths of units
  unit_done,  ///< host to arbiter: all results of a unit. ids: the unit
  split,   ///< arbiter to host: let go of the end of your share. ids: ranks that would take it, their power,
           ///< the
           ///< power of those that stay, in thousandths
  let_go,  ///< host to arbiter: its answer. ids: the end of its share from now on, what is left of it as in
           ///< `left`
  // bsp (bsp_member, bsp_conductor); number: the epoch
  restart,  ///< root to all: from this state on. ids: a generation of the store (0: the beginning), members
  bundle,   ///< member to member: its messages of a superstep. ids: the superstep, 1 if it goes on, a
            ///< generation to save at its end
  saved,    ///< member to root: its part is durable. ids: the generation, 0 if it is not
  unreadable,  ///< member to root: it cannot have the state of this epoch; text
};
inline constexpr int peer_message_kinds = 38;
/// Those of the first group that go to the root.
[[nodiscard]] bool for_roll_call(peer_message_kind what);

[[nodiscard]] char const* to_string(peer_message_kind what);

struct peer_message {
  peer_message_kind kind = peer_message_kind::hello;
  std::uint64_t number = 0;
  std::vector<std::uint64_t> ids{};
  std::string text{};
  std::optional<outcome> result{};  ///< finish only
  friend bool operator==(peer_message const&, peer_message const&) = default;
};

/// The same message in the words of call_message, where it is one.
[[nodiscard]] std::optional<call_message> to_call(peer_message const& m);
[[nodiscard]] peer_message to_peer(call_message const& m);

/// Appends the message to `out`.
void encode(peer_message const& m, std::vector<std::byte>& out);

/// Reads one message from the front of `bytes` and removes it. Throws protocol_error for anything that
/// encode() cannot have written.
[[nodiscard]] peer_message decode_peer_message(std::span<std::byte const>& bytes);

}  // namespace skel::role
