// How long each form would be, without writing it: one pass over the labels at the speed of memory.
#include <algorithm>
#include <bit>

#include "label_encoding.hpp"
#include "label_form.hpp"
#include "node_bitmap.hpp"

namespace skel::components {

namespace {

struct candidate {
  node label;
  bool exists;
};

// The most frequent label among some that are spread evenly, as Afforest finds the largest component (Sutton,
// Ben-Nun and Barak 2018). Which one is taken changes the size, never the result.
candidate largest_component(std::span<node const> labels) {
  constexpr std::size_t samples = 1024;
  if (labels.empty()) return {0, false};
  std::vector<node> drawn(samples);
  for (std::size_t i = 0; i < samples; ++i) drawn[i] = labels[labels.size() * i / samples];
  std::sort(drawn.begin(), drawn.end());
  candidate best{0, false};
  std::size_t most = samples / 64;
  for (std::size_t i = 0, begin = 0; i < samples; ++i) {
    if (drawn[i] != drawn[begin]) begin = i;
    if (i - begin + 1 > most) {
      most = i - begin + 1;
      best = {drawn[i], true};
    }
  }
  return best;
}

// Bytes of the gaps of ascending nodes, which come as bits.
class gap_bytes {
 public:
  void add(std::uint64_t first, std::uint64_t word) {
    if (word == 0) return;
    auto const lowest = first + static_cast<unsigned>(std::countr_zero(word));
    count_ += static_cast<unsigned>(std::popcount(word));
    more_ += varint_size(lowest - next_) - 1;  // the others of the word are less than 64 apart: a byte each
    next_ = first + static_cast<unsigned>(std::bit_width(word));
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return count_ + more_; }

 private:
  std::uint64_t count_ = 0, more_ = 0, next_ = 0;
};

}  // namespace

encoding encoded_sizes::cheapest() const {
  return static_cast<encoding>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
}

encoded_sizes sizes_of(std::span<node const> labels, label_kernel const& kernel) {
  auto const largest = largest_component(labels);
  gap_bytes linked, rest;
  std::uint64_t more_label_bytes = 0;
  constexpr std::size_t stretch = 32;  // words whose labels are still in the nearest cache
  for_each_word(kernel, labels, largest.exists, largest.label,
                [&](std::size_t w, std::uint64_t is_linked, std::uint64_t in_giant) {
                  if (w % stretch == 0) {
                    auto const some = labels.subspan(64 * w, std::min(64 * stretch, labels.size() - 64 * w));
                    more_label_bytes += kernel.more_label_bytes(some, static_cast<node>(64 * w));
                  }
                  linked.add(64 * w, is_linked);
                  if (largest.exists) rest.add(64 * w, is_linked & ~in_giant);
                });
  if (!largest.exists) rest = linked;
  auto const label_bytes = linked.count() + more_label_bytes;
  auto const giant_bytes = (linked.count() - rest.count()) * varint_size(largest.label);
  auto const bitmap = (labels.size() + 63) / 64 * 8;
  auto const head = [&](std::uint64_t count) { return 1 + varint_size(labels.size()) + varint_size(count); };
  encoded_sizes sizes{};
  sizes.giant = largest.label;
  sizes.linked = linked.count();
  sizes.rest = rest.count();
  sizes.bytes[0] = dense_size(labels.size());
  sizes.bytes[1] = head(linked.count()) + linked.bytes() + label_bytes;
  sizes.bytes[2] = largest.exists ? head(rest.count()) + varint_size(largest.label) + bitmap + rest.bytes() +
                                        label_bytes - giant_bytes
                                  : UINT64_MAX;
  sizes.bytes[3] = head(linked.count()) + bitmap + linked.count() * fixed_width(labels.size());
  return sizes;
}

}  // namespace skel::components
