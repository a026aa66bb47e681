// Actions of the roles of a bsp call.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bsp/role/message.hpp"

namespace skel::role {

namespace bsp {

// --- from a member ---

/// Send `what` to `to`, which may be this rank. The engine attaches to a bundle, and to a tally of
/// round 0, the messages for that rank from the latest superstep.
struct send {
  rank_id to = 0;
  bsp_message what{};
};
/// Keep the messages of the bundle or tally just received as those of rank `from` in this epoch and
/// superstep. If `from` is this rank, keep its own messages of the latest superstep.
struct keep {
  std::uint64_t epoch = 0, step = 0;
  rank_id from = 0;
};
/// An epoch begins: discard kept messages and pending jobs of earlier epochs. A pending save is
/// answered as failed.
struct forget {
  std::uint64_t epoch = 0;
};
/// A job: restore this rank's state as member `place` of `members`. Generation 0 uses the program's
/// initial state. Otherwise read part `place` from the store, or split the parts if their number
/// differs. Answer with restored() or unreadable().
struct restore {
  std::uint64_t epoch = 0, generation = 0;
  std::uint32_t place = 0, members = 0;
  std::uint64_t stamp = 0;  ///< of the run that has saved the generation
};
/// A job: save the state and the received messages before superstep `step`, as part `place` of a
/// generation of `parts` parts. The run continues when they are packed. Answer with saved() when
/// the part is durable or cannot be saved.
struct save {
  std::uint64_t epoch = 0, step = 0;
  std::uint64_t generation = 0, stamp = 0;
  std::uint32_t place = 0, parts = 0;
};
/// A job: compute superstep `step` from the kept messages of the previous one. Answer with
/// computed().
struct compute {
  std::uint64_t epoch = 0, step = 0;
};

// --- from the root ---

/// A checkpoint begins: the root's member announces this generation to all members (announce()).
struct announce {
  std::uint64_t generation = 0;
};
/// No member continues after the superstep that all have computed: the root's member completes the call
/// (no_more()).
struct no_more {
  std::uint64_t epoch = 0;
};
/// A rank could not save its part: this generation remains incomplete.
struct abandon {
  std::uint64_t generation = 0;
};
/// All parts are durable: commit the generation in the background; answer with committed().
struct commit {
  std::uint64_t generation = 0;
  std::uint32_t parts = 0;
};
/// Generation `bad` cannot be read; the run resumes from `instead` (0: the beginning).
struct fall_back {
  std::uint64_t bad = 0, instead = 0;
};
/// The store has nothing to resume the run from: the call fails on all ranks.
struct refuse {
  std::string text{};
};

}  // namespace bsp

/// Actions of the roles of a bsp call. The first five are common to all skeletons.
using bsp_action = std::variant<tell_root, close, drain, end, fail, bsp::send, bsp::keep, bsp::forget,
                                bsp::restore, bsp::save, bsp::compute, bsp::announce, bsp::no_more,
                                bsp::abandon, bsp::commit, bsp::fall_back, bsp::refuse>;
using bsp_actions = std::vector<bsp_action>;

}  // namespace skel::role
