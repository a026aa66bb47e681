// Bytes from another rank are checked, although only a fault in skel could make them wrong.
#include <bit>
#include <cstring>
#include <memory>

#include "label_encoding.hpp"
#include "label_form.hpp"
#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"

namespace skel::components {

namespace {

[[noreturn]] void refuse() { throw protocol_error("message holds labels that no forest has"); }

using consumer = std::function<void(std::span<edge const>)>;

// Gathers edges. A label must be smaller than its node; that is looked at once for all.
class batch {
 public:
  explicit batch(consumer const& link) : link_(link) {}
  void add(std::uint64_t x, node label) {
    edges_[size_++] = {static_cast<node>(x), label};
    wrong_ |= label >= x;
  }
  [[nodiscard]] std::size_t room() const { return edges_.size() - size_; }
  void flush() {
    if (wrong_) refuse();
    if (size_ > 0) link_({edges_.data(), size_});
    size_ = 0;
  }

 private:
  consumer const& link_;
  bool wrong_ = false;
  std::size_t size_ = 0;
  std::array<edge, 4096> edges_;
};

void decode_dense(std::span<std::byte const> in, std::uint64_t nodes, batch& edges) {
  if (in.size() != nodes * sizeof(node)) refuse();
  for (std::uint64_t x = 0; x < nodes; ++x) {
    node label = 0;
    std::memcpy(&label, in.data() + x * sizeof label, sizeof label);
    if (label == x) continue;
    edges.add(x, label);
    if (edges.room() == 0) edges.flush();
  }
}

void decode_pairs(std::span<std::byte const> in, std::uint64_t nodes, std::uint64_t count, batch& edges) {
  if (count > nodes) refuse();
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const gap = protocol::get_varint(in), label = protocol::get_varint(in);
    if (gap >= nodes || next + gap >= nodes || label >= nodes) refuse();
    edges.add(next + gap, static_cast<node>(label));
    next += gap + 1;
    if (edges.room() == 0) edges.flush();
  }
  if (!in.empty()) refuse();
}

std::uint64_t word_at(std::span<std::byte const> bits, std::size_t w, std::uint64_t nodes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bits.data() + 8 * w, sizeof word);
  if (nodes - 64 * w < 64 && word >> (nodes - 64 * w) != 0) refuse();
  return word;
}

void decode_giant(std::span<std::byte const> bits, std::uint64_t nodes, node giant, batch& edges) {
  for (std::size_t w = 0; 8 * w < bits.size(); ++w) {
    if (edges.room() < 64) edges.flush();
    for (auto word = word_at(bits, w, nodes); word != 0; word &= word - 1) {
      auto const x = 64 * w + static_cast<unsigned>(std::countr_zero(word));
      if (x != giant) edges.add(x, giant);
    }
  }
}

void decode_marks(std::span<std::byte const> bits, std::span<std::byte const> in, std::uint64_t nodes,
                  std::uint64_t count, batch& edges) {
  unsigned const width = fixed_width(nodes);
  if (count > nodes || in.size() != count * width) refuse();
  auto const* from = in.data();
  auto const* const end = from + in.size();
  node const mask = width == 4 ? ~node{0} : (node{1} << (8 * width)) - 1;
  for (std::size_t w = 0; 8 * w < bits.size(); ++w) {
    if (edges.room() < 64) edges.flush();
    auto word = word_at(bits, w, nodes);
    if (end - from < std::popcount(word) * static_cast<std::ptrdiff_t>(width)) refuse();
    auto const whole = end - from >= 64 * 4;  // 4 bytes may be read each time
    for (; word != 0; word &= word - 1, from += width) {
      node label = 0;
      if (whole)
        std::memcpy(&label, from, 4);
      else
        std::memcpy(&label, from, width);
      edges.add(64 * w + static_cast<unsigned>(std::countr_zero(word)), label & mask);
    }
  }
  if (from != end) refuse();
}

}  // namespace

void decode(std::span<std::byte const> bytes, std::uint64_t nodes, consumer const& link) {
  auto in = bytes;
  auto const form = static_cast<encoding>(protocol::get_raw<std::uint8_t>(in));
  if (protocol::get_varint(in) != nodes) throw protocol_error("message holds labels of another graph");
  auto const edges = std::make_unique<batch>(link);
  auto const bits = [&] { return protocol::get_bytes(in, (nodes + 63) / 64 * 8); };
  if (form == encoding::dense) {
    decode_dense(in, nodes, *edges);
  } else if (form == encoding::pairs) {
    auto const count = protocol::get_varint(in);
    decode_pairs(in, nodes, count, *edges);
  } else if (form == encoding::giant) {
    auto const count = protocol::get_varint(in), giant = protocol::get_varint(in);
    if (giant >= nodes) refuse();
    decode_giant(bits(), nodes, static_cast<node>(giant), *edges);
    edges->flush();
    decode_pairs(in, nodes, count, *edges);
  } else if (form == encoding::marks) {
    auto const count = protocol::get_varint(in);
    auto const marked = bits();
    decode_marks(marked, in, nodes, count, *edges);
  } else {
    refuse();
  }
  edges->flush();
}

}  // namespace skel::components
