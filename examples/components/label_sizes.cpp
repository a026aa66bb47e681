// How long each form would be, without writing it: one pass over the labels at the speed of memory.
#include "label_sizes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "label_form.hpp"
#include "node_bitmap.hpp"

namespace skel::components {

encoding encoded_sizes::cheapest() const {
  return static_cast<encoding>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
}

label_sample::label_sample(std::span<node const> labels) {
  constexpr std::size_t samples = 1024;
  if (labels.empty()) return;
  std::vector<node> drawn(samples);
  std::size_t linked = 0;
  std::array<std::size_t, 2> pair_bytes{};  // of all that are linked, and outside of the giant component
  for (std::size_t i = 0; i < samples; ++i) drawn[i] = labels[labels.size() * i / samples];
  auto sorted = drawn;
  std::sort(sorted.begin(), sorted.end());
  std::size_t most = samples / 64;
  for (std::size_t i = 0, begin = 0; i < samples; ++i) {
    if (sorted[i] != sorted[begin]) begin = i;
    if (i - begin + 1 > most) {
      most = i - begin + 1;
      giant = sorted[i];
      has_giant = true;
    }
  }
  for (std::size_t i = 0; i < samples; ++i) {
    if (drawn[i] == labels.size() * i / samples) continue;
    ++linked;
    pair_bytes[0] += 1 + varint_size(drawn[i]);
    if (!has_giant || drawn[i] != giant) pair_bytes[1] += 1 + varint_size(drawn[i]);
  }
  auto const label_bytes = linked * fixed_width(labels.size());
  constexpr std::size_t bitmap = samples / 8;
  marks_likely = bitmap + label_bytes < pair_bytes[0] && (!has_giant || label_bytes < pair_bytes[1]);
  likely_linked = labels.size() * linked / samples;
}

void size_counter::gap_bytes::add(std::uint64_t first, std::uint64_t word) {
  if (word == 0) return;
  auto const lowest = first + static_cast<unsigned>(std::countr_zero(word));
  count += static_cast<unsigned>(std::popcount(word));
  more_ += varint_size(lowest - next_) - 1;  // the others of the word are less than 64 apart: a byte each
  next_ = first + static_cast<unsigned>(std::bit_width(word));
}

encoded_sizes size_counter::sizes() const {
  auto const& rest = sample_.has_giant ? rest_ : linked_;
  auto const label_bytes = linked_.count + more_label_bytes_;
  auto const giant_bytes = (linked_.count - rest.count) * varint_size(sample_.giant);
  auto const bitmap = bitmap_size(labels_.size());
  auto const head = [&](std::uint64_t count) { return 1 + varint_size(labels_.size()) + varint_size(count); };
  encoded_sizes sizes{};
  sizes.giant = sample_.giant;
  sizes.linked = linked_.count;
  sizes.rest = rest.count;
  sizes.bytes[0] = dense_size(labels_.size());
  sizes.bytes[1] = head(linked_.count) + linked_.bytes() + label_bytes;
  sizes.bytes[2] = sample_.has_giant ? head(rest.count) + varint_size(sample_.giant) + bitmap + rest.bytes() +
                                           label_bytes - giant_bytes
                                     : UINT64_MAX;
  sizes.bytes[3] = head(linked_.count) + bitmap + linked_.count * fixed_width(labels_.size());
  return sizes;
}

encoded_sizes sizes_of(std::span<node const> labels, label_kernel const& kernel) {
  label_sample const sample(labels);
  size_counter counter(labels, sample, kernel);
  for_each_word(
      kernel, labels, sample.has_giant, sample.giant,
      [&](std::size_t w, std::uint64_t linked, std::uint64_t in_giant) { counter.add(w, linked, in_giant); });
  return counter.sizes();
}

}  // namespace skel::components
