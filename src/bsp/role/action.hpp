// What the roles of a bsp call want done.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bsp/role/message.hpp"

namespace skel::role {

namespace bsp {

// --- of a member ---

/// Send `what` to `to`, perhaps this rank itself. To a bundle the engine attaches what the superstep computed
/// last has sent to that rank.
struct send {
  rank_id to = 0;
  bsp_message what{};
  friend bool operator==(send const&, send const&) = default;
};
/// Keep the messages of the bundle that has just come as those of rank `from` in this epoch and superstep;
/// where `from` is this rank, those that it has sent itself in the superstep computed last.
struct keep {
  std::uint64_t epoch = 0, step = 0;
  rank_id from = 0;
  friend bool operator==(keep const&, keep const&) = default;
};
/// An epoch begins: what was kept of earlier ones is void, and so are their jobs that have not begun. A save
/// among them is answered as one that failed.
struct forget {
  std::uint64_t epoch = 0;
  friend bool operator==(forget const&, forget const&) = default;
};
/// A job: give this rank its state as member `place` of `members`, as the program begins (generation 0), or
/// from the store: part `place` of as many parts, or a new cut of all parts of another number. Answer with
/// restored() or unreadable().
struct restore {
  std::uint64_t epoch = 0, generation = 0;
  std::uint32_t place = 0, members = 0;
  friend bool operator==(restore const&, restore const&) = default;
};
/// A job: save the state and the received messages with which superstep `step` begins, as part `place` of a
/// generation of `parts` parts. The run goes on when they are packed; answer with saved() when the part is
/// durable, or cannot be.
struct save {
  std::uint64_t epoch = 0, step = 0;
  std::uint64_t generation = 0, stamp = 0;
  std::uint32_t place = 0, parts = 0;
  friend bool operator==(save const&, save const&) = default;
};
/// A job: compute superstep `step` from the messages that were kept of the one before. Answer with
/// computed().
struct compute {
  std::uint64_t epoch = 0, step = 0;
  friend bool operator==(compute const&, compute const&) = default;
};
/// On the root: no member goes on after this many supersteps: the root's state is the result.
struct complete {
  std::uint64_t steps = 0;
  friend bool operator==(complete const&, complete const&) = default;
};

// --- of the conductor ---

/// A checkpoint begins: the root's member tells all to save this generation (member's announce()).
struct announce {
  std::uint64_t generation = 0;
  friend bool operator==(announce const&, announce const&) = default;
};
/// A rank could not save its part: this generation will never be whole.
struct abandon {
  std::uint64_t generation = 0;
  friend bool operator==(abandon const&, abandon const&) = default;
};
/// All parts are durable: commit the generation in the background; answer with committed().
struct commit {
  std::uint64_t generation = 0;
  std::uint32_t parts = 0;
  friend bool operator==(commit const&, commit const&) = default;
};
/// Generation `bad` cannot be read after all; the run goes on from `instead` (0: the beginning).
struct fall_back {
  std::uint64_t bad = 0, instead = 0;
  friend bool operator==(fall_back const&, fall_back const&) = default;
};
/// This superstep was running on each of several lost ranks, of which `rank` is the last: it fails the run.
struct blame {
  std::uint64_t step = 0;
  rank_id rank = 0;
  std::string text{};
  friend bool operator==(blame const&, blame const&) = default;
};
/// The store that the run was to resume from gives nothing back: the call fails on all ranks.
struct refuse {
  std::string text{};
  friend bool operator==(refuse const&, refuse const&) = default;
};

}  // namespace bsp

/// What the roles of a bsp call want done; the first four are those of every call.
using bsp_action = std::variant<tell_root, drain, end, fail, bsp::send, bsp::keep, bsp::forget, bsp::restore,
                                bsp::save, bsp::compute, bsp::complete, bsp::announce, bsp::abandon,
                                bsp::commit, bsp::fall_back, bsp::blame, bsp::refuse>;
using bsp_actions = std::vector<bsp_action>;

}  // namespace skel::role
