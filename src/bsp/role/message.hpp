// Messages between the ranks of a bsp call.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "role/call_message.hpp"
#include "role/codec.hpp"

namespace skel::role {

namespace bsp {

/// Root to members: begins a new epoch from this state.
struct restart {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  ///< in the store; 0: the beginning
  std::uint64_t stamp = 0;       ///< needed to save a part, see storage::generation_plan
  std::vector<rank_id> members{};
  friend bool operator==(restart const&, restart const&) = default;
};

/// Member to root: has received the start of the epoch. If the member dies later, it counts as lost
/// in the work of this epoch.
struct joined {
  std::uint64_t epoch = 0;
  friend bool operator==(joined const&, joined const&) = default;
};

/// Member to member: superstep `step` is done. The sender's messages of that superstep travel with
/// the bundle.
struct bundle {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  bool more = false;       ///< the sender continues, or has sent a message
  std::uint64_t save = 0;  ///< root: save the state after this superstep as this generation; 0: none
  friend bool operator==(bundle const&, bundle const&) = default;
};

/// Member to root: its part of the generation is durable, or cannot be saved.
struct saved {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  bool well = false;
  friend bool operator==(saved const&, saved const&) = default;
};

/// Member to root: it cannot read the state from which the epoch begins.
struct unreadable {
  std::uint64_t epoch = 0;
  std::string text{};
  friend bool operator==(unreadable const&, unreadable const&) = default;
};

}  // namespace bsp

using bsp_message =
    std::variant<call_message, bsp::restart, bsp::joined, bsp::bundle, bsp::saved, bsp::unreadable>;
template <>
inline constexpr unsigned first_kind<bsp_message> = 96;

}  // namespace skel::role
