// What the ranks of a bsp call say to each other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "role/call_message.hpp"
#include "role/codec.hpp"

namespace skel::role {

namespace bsp {

/// Root to members: a new epoch begins, from this state.
struct restart {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  ///< of the store; 0: the beginning
  std::uint64_t stamp = 0;       ///< needed to save a part, see storage::generation_plan
  std::vector<rank_id> members{};
  friend bool operator==(restart const&, restart const&) = default;
};

/// Member to root: it has heard of the epoch. A member that dies later was lost to this epoch's work.
struct joined {
  std::uint64_t epoch = 0;
  friend bool operator==(joined const&, joined const&) = default;
};

/// Member to member: superstep `step` is done; what the sender has sent in it travels with the bundle.
struct bundle {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  bool more = false;       ///< the sender goes on, or has sent something
  std::uint64_t save = 0;  ///< root: save the state after this superstep as this generation; 0: do not
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
