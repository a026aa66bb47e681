#include "label_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "forest_link.hpp"
#include "label_encoding.hpp"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace skel::components {

namespace portable {  // sources are compiled together
namespace {

#ifdef __SSE2__

// Bit i is set where a[i] == b[i]; 16 of them.
std::uint32_t equal_16(node const* a, __m128i const* b) {
  auto const at = [&](int i) {
    return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(a) + i), b[i]);
  };
  auto const low = _mm_packs_epi32(at(0), at(1)), high = _mm_packs_epi32(at(2), at(3));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

std::uint64_t linked_64(node const* labels, node first) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 64; i += 16) {
    auto const base = _mm_add_epi32(_mm_set1_epi32(static_cast<int>(first + i)), _mm_setr_epi32(0, 1, 2, 3));
    __m128i const self[4] = {base, _mm_add_epi32(base, _mm_set1_epi32(4)),
                             _mm_add_epi32(base, _mm_set1_epi32(8)), _mm_add_epi32(base, _mm_set1_epi32(12))};
    word |= std::uint64_t{equal_16(labels + i, self)} << i;
  }
  return ~word;
}

std::uint64_t labelled_64(node const* labels, node label) {
  std::uint64_t word = 0;
  auto const same = _mm_set1_epi32(static_cast<int>(label));
  __m128i const all[4] = {same, same, same, same};
  for (unsigned i = 0; i < 64; i += 16) word |= std::uint64_t{equal_16(labels + i, all)} << i;
  return word;
}

#else

std::uint64_t linked_64(node const* labels, node first) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{labels[i] != first + i} << i;
  return word;
}

std::uint64_t labelled_64(node const* labels, node label) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{labels[i] == label} << i;
  return word;
}

#endif

void mark(node const* labels, node first, std::size_t words, node giant, std::uint64_t* linked,
          std::uint64_t* in_giant) {
  for (std::size_t w = 0; w < words; ++w) {
    linked[w] = linked_64(labels + 64 * w, first + static_cast<node>(64 * w));
    in_giant[w] = labelled_64(labels + 64 * w, giant);
  }
}

// Written for the vectoriser; Number is signed where that is enough, since SSE2 compares nothing else.
template <class Number>
std::uint64_t more_bytes(std::span<node const> labels, node from) {
  auto const* const label = labels.data();
  std::size_t const size = labels.size();
  auto const self = static_cast<Number>(from);
  std::uint64_t sum = 0;
  for (std::uint64_t limit = 128; limit < from + size; limit <<= 7) {
    auto const below = static_cast<Number>(limit - 1);
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
      auto const is = static_cast<Number>(label[i]);
      count += static_cast<std::uint32_t>((is > below) & (is != self + static_cast<Number>(i)));
    }
    sum += count;
  }
  return sum;
}

std::uint64_t more_label_bytes(std::span<node const> labels, node from) {
  return from + labels.size() <= INT32_MAX ? more_bytes<std::int32_t>(labels, from)
                                           : more_bytes<node>(labels, from);
}

// Writes 4 bytes each time, and lets the next label overwrite what is too many; the last ones are written
// exactly.
std::byte* put(std::span<node const> labels, std::uint64_t bits, unsigned width, std::byte* out,
               std::byte const* end) {
  std::size_t const each = end - out > 64 * 4 ? sizeof(node) : width;
  if (each == sizeof(node)) {
    for (; bits != 0; bits &= bits - 1, out += width)
      std::memcpy(out, &labels[static_cast<unsigned>(std::countr_zero(bits))], sizeof(node));
  } else {
    for (; bits != 0; bits &= bits - 1, out += width)
      std::memcpy(out, &labels[static_cast<unsigned>(std::countr_zero(bits))], each);
  }
  return out;
}

void join(std::span<std::byte const> message, std::span<node> parent) {
  forest_link links(parent.data());
  decode(message, parent.size(), [&](std::span<edge const> edges) { links.add(edges); });
  links.finish();
}

std::size_t leaving(std::span<edge const> edges, std::uint64_t const* set, edge* rest) {
  auto const bit = [set](node x) { return set[x / 64] >> (x % 64); };
  std::size_t size = 0;
  for (edge const e : edges) {
    rest[size] = e;
    size += ~(bit(e.u) & bit(e.v)) & 1U;
  }
  return size;
}

}  // namespace
}  // namespace portable

label_kernel const portable_label_kernel{
    "portable",    [] { return true; }, portable::mark,   portable::more_label_bytes,
    portable::put, portable::join,      portable::leaving};

std::vector<label_kernel const*> label_kernels() {
  std::vector<label_kernel const*> found{&portable_label_kernel};
#ifdef __x86_64__
  if (avx512_label_kernel.runs_here()) found.push_back(&avx512_label_kernel);
#endif
  return found;
}

label_kernel const& fastest_label_kernel() {
  static auto const* const fastest = label_kernels().back();
  return *fastest;
}

}  // namespace skel::components
