// A message in transit: contiguous bytes with room in front for the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace skel::transport {

/// Precedes every message. `sequence` counts the messages from one rank to another; 0 marks a pure
/// acknowledgement.
class header {
 public:
  header() = default;
  header(std::uint64_t context, std::uint32_t run, bool more, std::uint32_t number, std::uint32_t heard)
      : sequence(number),
        acknowledged(heard),
        context_low_(static_cast<std::uint32_t>(context)),
        context_high_(static_cast<std::uint32_t>(context >> 32)),
        run_and_more_(run << 1 | (more ? 1U : 0U)) {}

  [[nodiscard]] std::uint64_t context() const {
    return static_cast<std::uint64_t>(context_high_) << 32 | context_low_;
  }
  [[nodiscard]] std::uint32_t run() const { return run_and_more_ >> 1; }
  /// Whether the message continues in the next packet.
  [[nodiscard]] bool more() const { return (run_and_more_ & 1) != 0; }

  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;  ///< the highest sequence number received from the destination

 private:
  // Two halves and a shared word: 20 bytes, without padding.
  std::uint32_t context_low_ = 0;
  std::uint32_t context_high_ = 0;
  std::uint32_t run_and_more_ = 0;
};
static_assert(sizeof(header) == 20);

/// Bytes of one message. The first `head_room` bytes are reserved. A result computed directly into
/// the buffer need not be copied when a header and a role's message are put in front of it.
class packet {
 public:
  static constexpr std::size_t head_room = 192;

  packet() : begin_(head_room) {
    bytes_.reserve(2 * head_room);  // most messages are small
    bytes_.resize(head_room);
  }
  /// Reuses the memory of a buffer and discards its content.
  explicit packet(std::vector<std::byte> recycled) : bytes_(std::move(recycled)), begin_(head_room) {
    bytes_.resize(head_room);
  }
  /// Bytes after head_room bytes that are reserved; or nothing.
  static packet with_head_room(std::vector<std::byte> bytes) {
    auto const begin = bytes.empty() ? 0 : head_room;
    return {std::move(bytes), begin};
  }
  /// Received bytes, without head room.
  static packet received(std::vector<std::byte> bytes) {
    packet p(std::move(bytes), 0);
    return p;
  }

  /// Memory for `size` bytes that are arriving.
  static packet arriving(std::shared_ptr<std::byte> memory, std::size_t size) {
    packet p({}, 0);
    p.memory_ = std::move(memory);
    p.memory_size_ = size;
    return p;
  }

  [[nodiscard]] std::span<std::byte const> bytes() const {
    auto const all = memory_ ? std::span<std::byte const>(memory_.get(), memory_size_) : std::span(bytes_);
    return all.subspan(begin_);
  }
  /// For an arriving packet: where to store its bytes.
  [[nodiscard]] std::byte* data() { return memory_ ? memory_.get() : bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return (memory_ ? memory_size_ : bytes_.size()) - begin_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// For an outgoing packet: the buffer to which a body is appended.
  [[nodiscard]] std::vector<std::byte>& body() { return bytes_; }

  /// Puts bytes in front. Moves the body only if the head room is too small.
  void prepend(std::span<std::byte const> front) {
    if (memory_) *this = received({bytes().begin(), bytes().end()});
    if (front.size() > begin_) {
      std::size_t const extra = front.size() - begin_ + head_room;
      bytes_.insert(bytes_.begin(), extra, std::byte{0});
      begin_ += extra;
    }
    begin_ -= front.size();
    std::memcpy(bytes_.data() + begin_, front.data(), front.size());
  }
  /// Removes n bytes from the front.
  void drop_front(std::size_t n) { begin_ += n; }
  /// Returns the buffer for reuse; empty if the packet arrived in separate memory.
  [[nodiscard]] std::vector<std::byte> release() && { return std::move(bytes_); }

 private:
  packet(std::vector<std::byte> bytes, std::size_t begin) : bytes_(std::move(bytes)), begin_(begin) {}
  std::vector<std::byte> bytes_;
  std::size_t begin_;
  std::shared_ptr<std::byte> memory_;  // replaces bytes_ if not null
  std::size_t memory_size_ = 0;
};

}  // namespace skel::transport
