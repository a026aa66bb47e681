#include <array>
#include <memory>

#include "label_encoding.hpp"
#include "label_stream.hpp"

namespace skel::components {

namespace {

using consumer = std::function<void(std::span<edge const>)>;

// Gathers edges. A label must be smaller than its node; that is looked at once for all.
class batch {
 public:
  explicit batch(consumer const& link) : link_(link) {}

  void pair(node x, node label) {
    make_room();
    add(x, label);
  }
  void giant(std::uint64_t first, std::span<std::byte const> bits, node label) {
    for (std::size_t w = 0; 8 * w < bits.size(); ++w) {
      make_room();
      for (auto word = label_word(bits, w); word != 0; word &= word - 1) {
        auto const x = first + 64 * w + static_cast<unsigned>(std::countr_zero(word));
        if (x != label) add(x, label);
      }
    }
  }
  void marked(std::uint64_t first, std::span<std::byte const> bits, unsigned width,
              std::span<std::byte const> in) {
    auto const* from = in.data();
    auto const* const end = from + in.size();
    node const mask = width == 4 ? ~node{0} : (node{1} << (8 * width)) - 1;
    for (std::size_t w = 0; 8 * w < bits.size(); ++w) {
      make_room();
      auto const whole = end - from >= 64 * 4;  // 4 bytes may be read each time
      for (auto word = label_word(bits, w); word != 0; word &= word - 1, from += width) {
        node label = 0;
        if (whole)
          std::memcpy(&label, from, 4);
        else
          std::memcpy(&label, from, width);
        add(first + 64 * w + static_cast<unsigned>(std::countr_zero(word)), label & mask);
      }
    }
  }
  void dense(std::uint64_t first, unsigned count, std::byte const* from) {
    make_room();
    for (unsigned i = 0; i < count; ++i) {
      node label = 0;
      std::memcpy(&label, from + i * sizeof label, sizeof label);
      if (label != first + i) add(first + i, label);
    }
  }
  void flush() {
    if (wrong_) refuse_labels();
    if (size_ > 0) link_({edges_.data(), size_});
    size_ = 0;
  }

 private:
  void add(std::uint64_t x, node label) {
    edges_[size_++] = {static_cast<node>(x), label};
    wrong_ |= label >= x;
  }
  void make_room() {
    if (edges_.size() - size_ < 64) flush();
  }

  consumer const& link_;
  bool wrong_ = false;
  std::size_t size_ = 0;
  std::array<edge, 4096> edges_;
};

}  // namespace

void decode(std::span<std::byte const> bytes, std::uint64_t nodes, consumer const& link) {
  auto const edges = std::make_unique<batch>(link);
  label_stream(nodes, *edges).read(bytes);
  edges->flush();
}

}  // namespace skel::components
