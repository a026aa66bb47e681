// What the ranks of a bsp call say to each other, beside what every skeleton says (roll_call).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "role/outcome.hpp"
#include "role/peer_message.hpp"

/// Each message has one place that says which numbers of a peer_message hold it. decoded() throws
/// protocol_error where a message is not whole.
namespace skel::role::bsp_message {

/// Root to members: a new epoch begins, from this state.
struct restart {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  ///< of the store; 0: the beginning
  std::uint64_t stamp = 0;       ///< needed to save a part, see storage::generation_plan
  std::vector<rank_id> members{};
  [[nodiscard]] peer_message encoded() const;
  [[nodiscard]] static restart decoded(peer_message const& m);
  friend bool operator==(restart const&, restart const&) = default;
};

/// Member to member: superstep `step` is done; what it has sent travels with it.
struct bundle {
  std::uint64_t epoch = 0, step = 0;
  bool more = false;       ///< the sender goes on, or has sent something
  std::uint64_t save = 0;  ///< root: save the state after this superstep as this generation; 0: do not
  [[nodiscard]] peer_message encoded() const;
  [[nodiscard]] static bundle decoded(peer_message const& m);
  friend bool operator==(bundle const&, bundle const&) = default;
};

/// Member to root: its part of the generation is durable, or cannot be saved.
struct saved {
  std::uint64_t epoch = 0, generation = 0;
  bool well = false;
  [[nodiscard]] peer_message encoded() const;
  [[nodiscard]] static saved decoded(peer_message const& m);
  friend bool operator==(saved const&, saved const&) = default;
};

/// Member to root: it cannot read the state from which the epoch begins.
struct unreadable {
  std::uint64_t epoch = 0;
  std::string text{};
  [[nodiscard]] peer_message encoded() const;
  [[nodiscard]] static unreadable decoded(peer_message const& m);
  friend bool operator==(unreadable const&, unreadable const&) = default;
};

}  // namespace skel::role::bsp_message
