// Messages between the ranks of a bsp call.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"

namespace skel::role {

namespace bsp {
using role::operator==;

/// Root to members: begins a new epoch from this state.
struct restart {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  ///< in the store; 0: the beginning
  std::uint64_t stamp = 0;       ///< needed to save a part, see storage::generation_plan
  std::vector<rank_id> members{};
  std::uint64_t generation_stamp = 0;  ///< of the run that has saved the generation
};

/// Member to root: has received the start of the epoch. If the member dies later, it counts as lost
/// in the work of this epoch.
struct joined {
  std::uint64_t epoch = 0;
};

/// Member to member: the sender's messages of superstep `step`.
///
/// A superstep that ends with a barrier: for a member other than the next one. A member without
/// messages for the receiver sends no bundle.
/// A superstep that ends with the neighbours: for each neighbour, possibly without messages.
struct bundle {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  bool more = false;  ///< the sender continues, or has sent a message
};

/// `bundles` bundles travel to the member at place `to`.
struct notice {
  std::uint32_t to = 0;
  std::uint64_t bundles = 0;
};

/// Member to member: the 2^round members up to the sender have finished superstep `step`, see
/// superstep_end. The tally of round 0 goes to the next member. The sender's messages for that member
/// travel with it, so it is also their bundle.
struct tally {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint32_t round = 0;
  bool more = false;       ///< one of them continues, or has sent a message
  std::uint64_t save = 0;  ///< from the root: save the state after this superstep as this generation; 0: none
  std::vector<notice> notices{};
};

/// Whether the sender's messages of the superstep travel with this message.
constexpr bool carries_messages(auto const& /*other*/) { return false; }
constexpr bool carries_messages(bundle const& /*b*/) { return true; }
constexpr bool carries_messages(tally const& t) { return t.round == 0; }

/// Member to root: its part of the generation is durable, or cannot be saved.
struct saved {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  bool well = false;
};

/// Member to root: it cannot read the state from which the epoch begins.
struct unreadable {
  std::uint64_t epoch = 0;
  std::string text{};
};

// --- only if the program names neighbours ---

/// Member to root: neither this rank nor a neighbour continues after superstep `step`. Does another one?
struct idle {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
};

/// Root to member: report when you know that a member continues after superstep `step`.
struct ask {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
};

/// Both ways: a member continues after each superstep before `until`.
struct goes_on {
  std::uint64_t epoch = 0;
  std::uint64_t until = 0;
};

/// Root to member: report your progress. With a generation, begin no other superstep before the root
/// has said which one begins with this checkpoint.
struct where {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  ///< 0: none
};

/// A member has finished the supersteps before `next`.
struct progress {
  rank_id rank = 0;
  std::uint64_t next = 0;
};

/// Member to root: the answer.
struct reached {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  std::uint64_t next = 0;            ///< the first superstep that this rank has not begun
  std::vector<progress> finished{};  ///< this rank and its neighbours, as far as it knows
};

/// Root to member: superstep `step` begins with this checkpoint.
struct save_before {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  std::uint64_t step = 0;
};

// --- a rank leaves the job ---

/// Member to root: it is to leave once a checkpoint has its state (leave_request), or stays after all.
struct retires {
  std::uint64_t number = 0;  ///< of the requests of this rank
};

/// Root to member: begin no superstep after the checkpoint of this generation. 0: go on.
struct hold {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
};

/// The root's member to the root: it waits now.
struct holds {
  std::uint64_t epoch = 0;
};

/// The answer: the others go on from that checkpoint.
struct released {
  std::uint64_t number = 0;
};

}  // namespace bsp

using bsp_message = std::variant<call_message, bsp::restart, bsp::joined, bsp::bundle, bsp::tally, bsp::saved,
                                 bsp::unreadable, bsp::idle, bsp::ask, bsp::goes_on, bsp::where, bsp::reached,
                                 bsp::save_before, bsp::retires, bsp::hold, bsp::holds, bsp::released>;
template <>
inline constexpr unsigned first_kind<bsp_message> = 96;

}  // namespace skel::role
