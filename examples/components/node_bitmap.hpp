// Bits of nodes, 64 to a word, made from comparisons of labels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "edge.hpp"
#include "label_kernel.hpp"

namespace skel::components {

/// f(word number, linked, in giant) for all nodes, 64 at a time; without a giant component its words are 0.
/// Bits beyond the last node are 0.
template <class F>
void for_each_word(label_kernel const& kernel, std::span<node const> labels, bool with_giant, node giant,
                   F&& f) {
  constexpr std::size_t stretch = 32;
  std::array<std::uint64_t, stretch> linked, in_giant;
  std::size_t const whole = labels.size() / 64;
  for (std::size_t w = 0; w < whole; w += stretch) {
    auto const words = std::min(stretch, whole - w);
    kernel.mark(labels.data() + 64 * w, static_cast<node>(64 * w), words, giant, linked.data(),
                in_giant.data());
    for (std::size_t i = 0; i < words; ++i) f(w + i, linked[i], with_giant ? in_giant[i] : 0);
  }
  if (labels.size() % 64 == 0) return;
  std::uint64_t last_linked = 0, last_giant = 0;
  for (std::size_t i = 64 * whole; i < labels.size(); ++i) {
    last_linked |= std::uint64_t{labels[i] != i} << (i % 64);
    last_giant |= std::uint64_t{with_giant && labels[i] == giant} << (i % 64);
  }
  f(whole, last_linked, last_giant);
}

}  // namespace skel::components
