// How a message of labels is taken apart and checked, whatever is done with the labels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "label_encoding.hpp"
#include "label_form.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::components {

[[noreturn]] inline void refuse_labels() { throw protocol_error("message holds labels that no forest has"); }

[[nodiscard]] inline std::uint64_t label_word(std::span<std::byte const> bits, std::size_t w) {
  std::uint64_t word = 0;
  std::memcpy(&word, bits.data() + 8 * w, sizeof word);
  return word;
}

inline constexpr std::size_t label_stretch = 32;

/// Bytes from another rank are checked, although only a fault in skel could make them wrong. Nodes come in
/// ascending order within each component, and are smaller than `nodes`; that labels are smaller than their
/// nodes is what `take` must look at:
///   pair(x, label)
///   giant(first, bits, label)         bits of nodes from `first` on, which have this label (or are it)
///   marked(first, bits, width, from)  likewise, with a label of `width` bytes for each bit from `from` on
///   dense(first, count, from)         labels of `count` <= 64 nodes, 4 bytes each
/// Bits come in words of 8 bytes, at most label_stretch of them at a time.
template <class Taker>
class label_stream {
 public:
  label_stream(std::uint64_t nodes, Taker& take) : nodes_(nodes), take_(take) {}

  void read(std::span<std::byte const> in) {
    auto const form = static_cast<encoding>(bytes::get_raw<std::uint8_t>(in));
    if (bytes::get_varint(in) != nodes_) throw protocol_error("message holds labels of another graph");
    auto const bits = [&] { return bytes::get_bytes(in, (nodes_ + 63) / 64 * 8); };
    if (form == encoding::dense) {
      read_dense(in);
    } else if (form == encoding::pairs) {
      auto const count = bytes::get_varint(in);
      read_pairs(in, count);
    } else if (form == encoding::giant) {
      auto const count = bytes::get_varint(in), giant = bytes::get_varint(in);
      if (giant >= nodes_) refuse_labels();
      read_giant(bits(), static_cast<node>(giant));
      read_pairs(in, count);
    } else if (form == encoding::marks) {
      auto const count = bytes::get_varint(in);
      auto const marked = bits();
      read_marks(marked, in, count);
    } else {
      refuse_labels();
    }
  }

 private:
  void read_dense(std::span<std::byte const> in) {
    if (in.size() != nodes_ * sizeof(node)) refuse_labels();
    for (std::uint64_t first = 0; first < nodes_; first += 64)
      take_.dense(first, static_cast<unsigned>(nodes_ - first < 64 ? nodes_ - first : 64),
                  in.data() + first * sizeof(node));
  }

  void read_pairs(std::span<std::byte const> in, std::uint64_t count) {
    if (count > nodes_) refuse_labels();
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto const gap = bytes::get_varint(in), label = bytes::get_varint(in);
      if (gap >= nodes_ || next + gap >= nodes_ || label >= nodes_) refuse_labels();
      take_.pair(static_cast<node>(next + gap), static_cast<node>(label));
      next += gap + 1;
    }
    if (!in.empty()) refuse_labels();
  }

  void read_giant(std::span<std::byte const> bits, node giant) {
    require_nodes(bits);
    for (std::size_t w = 0; 8 * w < bits.size(); w += label_stretch)
      take_.giant(64 * w, stretch_at(bits, w), giant);
  }

  void read_marks(std::span<std::byte const> bits, std::span<std::byte const> in, std::uint64_t count) {
    unsigned const width = fixed_width(nodes_);
    if (count > nodes_ || in.size() != count * width) refuse_labels();
    require_nodes(bits);
    for (std::size_t w = 0; 8 * w < bits.size(); w += label_stretch) {
      auto const some = stretch_at(bits, w);
      std::size_t size = 0;
      for (std::size_t i = 0; 8 * i < some.size(); ++i)
        size += static_cast<std::size_t>(std::popcount(label_word(some, i))) * width;
      if (in.size() < size) refuse_labels();
      take_.marked(64 * w, some, width, in);
      in = in.subspan(size);
    }
    if (!in.empty()) refuse_labels();
  }

  // No bit beyond the last node.
  void require_nodes(std::span<std::byte const> bits) const {
    if (nodes_ % 64 != 0 && label_word(bits, nodes_ / 64) >> (nodes_ % 64) != 0) refuse_labels();
  }
  [[nodiscard]] static std::span<std::byte const> stretch_at(std::span<std::byte const> bits, std::size_t w) {
    return bits.subspan(8 * w, std::min(8 * label_stretch, bits.size() - 8 * w));
  }

  std::uint64_t nodes_;
  Taker& take_;
};

}  // namespace skel::components
