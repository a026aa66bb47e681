// A message on the wire: contiguous bytes with room in front for the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace skel::transport {

/// In front of every message. `sequence` counts the messages from one rank to another; 0 is an
/// acknowledgement alone.
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
  /// The message goes on in the next packet.
  [[nodiscard]] bool more() const { return (run_and_more_ & 1) != 0; }

  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;  ///< the highest sequence number received from the addressee

 private:
  // Two halves and a shared word: 20 bytes, without padding.
  std::uint32_t context_low_ = 0;
  std::uint32_t context_high_ = 0;
  std::uint32_t run_and_more_ = 0;
};
static_assert(sizeof(header) == 20);

/// Bytes of one message. The first `head_room` bytes are reserved, so that results which are computed
/// straight into the buffer need not be copied to put a header and a role's message in front of them.
class packet {
 public:
  static constexpr std::size_t head_room = 192;

  packet() : bytes_(head_room), begin_(head_room) {}
  /// Takes over a buffer (its content is dropped, its memory is used again).
  explicit packet(std::vector<std::byte> recycled) : bytes_(std::move(recycled)), begin_(head_room) {
    bytes_.resize(head_room);
  }
  /// Bytes as they arrived, without head room.
  static packet received(std::vector<std::byte> bytes) {
    packet p(std::move(bytes), 0);
    return p;
  }

  /// Room for so many bytes that are to arrive.
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
  /// Of a packet that is arriving: where to.
  [[nodiscard]] std::byte* data() { return memory_ ? memory_.get() : bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return (memory_ ? memory_size_ : bytes_.size()) - begin_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Where a body is appended, of a packet that did not arrive.
  [[nodiscard]] std::vector<std::byte>& body() { return bytes_; }

  /// Puts bytes in front; moves the body only if the head room does not suffice.
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
  /// The buffer, to be used again; none where the packet arrived in memory of its own.
  [[nodiscard]] std::vector<std::byte> release() && { return std::move(bytes_); }

 private:
  packet(std::vector<std::byte> bytes, std::size_t begin) : bytes_(std::move(bytes)), begin_(begin) {}
  std::vector<std::byte> bytes_;
  std::size_t begin_;
  std::shared_ptr<std::byte> memory_;  // instead of bytes_, where it is here
  std::size_t memory_size_ = 0;
};

}  // namespace skel::transport
