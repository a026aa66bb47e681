// The wire contract per pair of ranks: numbered messages, duplicates dropped, credits, large messages in
// pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport/packet.hpp"

namespace skel::transport {

/// One rank's end of the connection to one peer. Pure: packets go in, packets that may be sent or delivered
/// come out.
class link {
 public:
  /// Unacknowledged messages to one peer; stock Open MPI holds 44 small ones for a dead peer, then none
  /// completes.
  static constexpr std::uint32_t credits = 32;
  /// Received messages after which an acknowledgement travels alone if nothing else does.
  static constexpr std::uint32_t acknowledge_every = 16;
  static constexpr std::size_t default_piece = std::size_t{1} << 30;

  explicit link(std::size_t largest_piece = default_piece) : largest_piece_(largest_piece) {}

  /// Accepts a message for sending (split if it is larger than a piece); it waits for credit.
  void push(std::uint64_t context, std::uint32_t run, packet body);
  /// The next packet that may travel now, with its header, or nothing.
  [[nodiscard]] std::optional<packet> pop();
  /// An acknowledgement alone, if one is due.
  [[nodiscard]] std::optional<packet> acknowledgement();
  /// A sign of life: a packet that only acknowledges, due or not.
  [[nodiscard]] packet heartbeat();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

  struct delivery {
    std::uint64_t context = 0;
    std::uint32_t run = 0;
    packet body;
  };
  /// A packet as it came from the wire; a whole message comes out when its last piece is in. Duplicates and
  /// acknowledgements give nothing. Throws protocol_error when it is too short to hold a header.
  [[nodiscard]] std::optional<delivery> accept(packet from_wire);

 private:
  [[nodiscard]] packet with_header(packet body, header h) const;

  struct outgoing {
    std::uint64_t context;
    std::uint32_t run;
    bool more;
    packet body;
  };
  std::size_t largest_piece_;
  std::deque<outgoing> queue_;
  std::uint32_t sent_ = 0;          // sequence number of the newest packet sent
  std::uint32_t acknowledged_ = 0;  // by the peer
  std::uint32_t received_ = 0;      // highest sequence number received
  std::uint32_t told_ = 0;          // highest one the peer knows we have
  std::vector<std::byte> pieces_;   // of a message that is not complete
};

}  // namespace skel::transport
