// The connection between two ranks: numbered messages, duplicate detection, flow control by
// credits, and large messages in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "transport/packet.hpp"

namespace skel::transport {

/// One rank's end of the connection to one peer. Pure: consumes packets, and produces packets to
/// send or messages to deliver.
class link {
 public:
  /// Limit of unacknowledged messages to one peer. Stock Open MPI holds 44 small ones for a dead
  /// peer; beyond that, no send completes.
  static constexpr std::uint32_t credits = 32;
  /// Number of received messages after which an acknowledgement is sent without a message to carry
  /// it.
  static constexpr std::uint32_t acknowledge_every = 16;
  static constexpr std::size_t default_piece = std::size_t{1} << 30;

  explicit link(std::size_t largest_piece = default_piece) : largest_piece_(largest_piece) {}

  /// Accepts a message for sending, split if it is larger than a piece. It waits for credit.
  void push(std::uint64_t context, std::uint32_t run, packet body);
  /// push() followed by pop(), without taking memory for the queue if it is empty.
  [[nodiscard]] std::optional<packet> pass(std::uint64_t context, std::uint32_t run, packet body);
  /// The next packet that may be sent now, with its header, or nothing.
  [[nodiscard]] std::optional<packet> pop();
  /// A pure acknowledgement, if one is due.
  [[nodiscard]] std::optional<packet> acknowledgement();
  /// A heartbeat: a pure acknowledgement, due or not.
  [[nodiscard]] packet heartbeat();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

  struct delivery {
    std::uint64_t context = 0;
    std::uint32_t run = 0;
    packet body;
  };
  /// Accepts a packet from the transport. Returns a whole message when its last piece has arrived;
  /// duplicates and acknowledgements return nothing. Throws protocol_error if it is too short for a
  /// header.
  [[nodiscard]] std::optional<delivery> accept(packet from_wire);

 private:
  [[nodiscard]] bool has_credit() const { return sent_ - acknowledged_ < credits; }
  [[nodiscard]] packet next_packet(packet body, std::uint64_t context, std::uint32_t run, bool more);
  [[nodiscard]] packet with_header(packet body, header h) const;

  struct outgoing {
    std::uint64_t context;
    std::uint32_t run;
    bool more;
    packet body;
  };
  std::size_t largest_piece_;
  std::list<outgoing> queue_;       // an empty list has no memory
  std::uint32_t sent_ = 0;          // sequence number of the newest packet sent
  std::uint32_t acknowledged_ = 0;  // by the peer
  std::uint32_t received_ = 0;      // highest sequence number received
  std::uint32_t told_ = 0;          // highest one acknowledged to the peer
  std::vector<std::byte> pieces_;   // of an incomplete message
};

}  // namespace skel::transport
