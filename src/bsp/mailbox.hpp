// The messages of supersteps on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bsp/role/member.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// Keeps the messages that arrive until their superstep begins, and this rank's own ones until they are sent.
/// Its memory is used again: allocations would cost as much as MPI's calls.
class mailbox {
 public:
  using bundles = std::vector<std::vector<std::byte>>;  // by place

  // --- messages of the latest superstep
  /// Empty bundles for this many members, to be filled by the superstep.
  [[nodiscard]] bundles& empty(std::size_t members);
  /// The places for which there are messages, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> const& addressees();
  /// Once for each place.
  [[nodiscard]] transport::packet take(std::uint32_t place) {
    return transport::packet::with_head_room(std::exchange(outgoing_.at(place), {}));
  }

  // --- received messages
  void keep(std::uint64_t epoch, std::uint64_t step, int from, transport::packet&& messages);
  void forget_before(std::uint64_t epoch);
  /// Opens the messages for superstep `step`. There are none after a restore: they are part of the state.
  /// Otherwise there are at least this rank's own messages to itself, possibly empty. A member without
  /// messages for this rank has sent no bundle.
  void open(std::uint64_t epoch, std::uint64_t step, role::bsp_epoch const& receiver);
  /// Those of open(), by place; empty after a restore.
  [[nodiscard]] std::vector<std::span<std::byte const>> const& opened() const { return came_from_; }
  /// Frees the bytes of opened().
  void close() { came_.clear(); }

 private:
  struct arrival {
    int from = 0;
    transport::packet messages;
  };
  struct superstep {
    std::uint64_t epoch = 0, step = 0;
    std::vector<arrival> messages;  // empty: free for another superstep
  };
  [[nodiscard]] superstep* find(std::uint64_t epoch, std::uint64_t step);

  bundles outgoing_;
  std::vector<std::uint32_t> addressees_;
  std::vector<superstep> received_;  // few: the next one, and later ones of ranks that are ahead
  std::vector<arrival> came_;
  std::vector<std::span<std::byte const>> came_from_;
};

}  // namespace skel::detail
