// Bits of nodes, 64 to a word, made from comparisons of labels.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edge.hpp"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace skel::components {

namespace detail {

#ifdef __SSE2__
/// Bit i is set where a[i] == b[i]; 16 of them.
inline std::uint32_t equal_16(node const* a, __m128i const* b) {
  auto const at = [&](int i) {
    return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(a) + i), b[i]);
  };
  auto const low = _mm_packs_epi32(at(0), at(1)), high = _mm_packs_epi32(at(2), at(3));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}
#endif

}  // namespace detail

/// The nodes first ... first + 63 whose label is not themselves, a bit each. All 64 must exist.
inline std::uint64_t linked_64(node const* labels, node first) {
  std::uint64_t word = 0;
#ifdef __SSE2__
  for (unsigned i = 0; i < 64; i += 16) {
    auto const base = _mm_add_epi32(_mm_set1_epi32(static_cast<int>(first + i)), _mm_setr_epi32(0, 1, 2, 3));
    __m128i const self[4] = {base, _mm_add_epi32(base, _mm_set1_epi32(4)),
                             _mm_add_epi32(base, _mm_set1_epi32(8)), _mm_add_epi32(base, _mm_set1_epi32(12))};
    word |= std::uint64_t{detail::equal_16(labels + first + i, self)} << i;
  }
  return ~word;
#else
  for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{labels[first + i] != first + i} << i;
  return word;
#endif
}

/// The nodes first ... first + 63 with this label.
inline std::uint64_t labelled_64(node const* labels, node first, node label) {
  std::uint64_t word = 0;
#ifdef __SSE2__
  auto const same = _mm_set1_epi32(static_cast<int>(label));
  __m128i const all[4] = {same, same, same, same};
  for (unsigned i = 0; i < 64; i += 16) word |= std::uint64_t{detail::equal_16(labels + first + i, all)} << i;
#else
  for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{labels[first + i] == label} << i;
#endif
  return word;
}

/// f(word number, linked, in giant) for all nodes, 64 at a time; without a giant component its words are 0.
/// Bits beyond the last node are 0.
template <class F>
void for_each_word(std::span<node const> labels, bool with_giant, node giant, F&& f) {
  std::size_t const whole = labels.size() / 64;
  for (std::size_t w = 0; w < whole; ++w) {
    auto const first = static_cast<node>(64 * w);
    f(w, linked_64(labels.data(), first), with_giant ? labelled_64(labels.data(), first, giant) : 0);
  }
  if (labels.size() % 64 == 0) return;
  std::uint64_t linked = 0, in_giant = 0;
  for (std::size_t i = 64 * whole; i < labels.size(); ++i) {
    linked |= std::uint64_t{labels[i] != i} << (i % 64);
    in_giant |= std::uint64_t{with_giant && labels[i] == giant} << (i % 64);
  }
  f(whole, linked, in_giant);
}

}  // namespace skel::components
