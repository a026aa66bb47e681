// 16 labels at a time, for processors with AVX-512 and its two extensions for bytes. A mask holds what SSE2
// needs a branch per label for: which ones are linked.
#include "label_kernel.hpp"

#ifdef __x86_64__

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "forest_link.hpp"
#include "label_stream.hpp"

#define SKEL_LABEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,popcnt")))

namespace skel::components {

namespace avx512 {  // sources are compiled together
namespace {

constexpr unsigned lanes = 16;

bool runs_here() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("bmi2");
}

SKEL_LABEL_TARGET inline __m512i nodes_from(std::uint64_t first) {
  return _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                          _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

SKEL_LABEL_TARGET inline std::uint64_t lowest_bits(std::size_t count) {
  return _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(count));
}

SKEL_LABEL_TARGET void mark(node const* labels, node first, std::size_t words, node giant,
                            std::uint64_t* linked, std::uint64_t* in_giant) {
  auto const all_giant = _mm512_set1_epi32(static_cast<int>(giant));
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t is_linked = 0, is_giant = 0;
    for (unsigned i = 0; i < 64; i += lanes) {
      auto const label = _mm512_loadu_si512(labels + 64 * w + i);
      is_linked |= std::uint64_t{_mm512_cmpneq_epi32_mask(label, nodes_from(first + 64 * w + i))} << i;
      is_giant |= std::uint64_t{_mm512_cmpeq_epi32_mask(label, all_giant)} << i;
    }
    linked[w] = is_linked;
    in_giant[w] = is_giant;
  }
}

SKEL_LABEL_TARGET std::uint64_t more_label_bytes(std::span<node const> labels, node from) {
  auto const one = _mm512_set1_epi32(1);
  auto count = _mm512_setzero_si512();
  for (std::size_t x = 0; x < labels.size(); x += lanes) {
    auto const here = static_cast<__mmask16>(lowest_bits(std::min<std::size_t>(labels.size() - x, lanes)));
    auto const label = _mm512_maskz_loadu_epi32(here, labels.data() + x);
    auto const linked = _mm512_mask_cmpneq_epi32_mask(here, label, nodes_from(from + x));
    for (unsigned bits = 7; bits < 32 && (std::uint64_t{1} << bits) < from + labels.size(); bits += 7) {
      auto const limit = _mm512_set1_epi32(static_cast<int>(1U << bits));
      count = _mm512_mask_add_epi32(count, _mm512_mask_cmpge_epu32_mask(linked, label, limit), count, one);
    }
  }
  std::uint64_t sum = 0;
  alignas(64) node each[lanes];
  _mm512_store_si512(each, count);
  for (auto const n : each) sum += n;
  return sum;
}

// For a byte permutation: where the bytes of label i are when they are packed, and which bytes are there at
// all.
struct packing {
  alignas(64) std::uint8_t pack[64]{};
  alignas(64) std::uint8_t unpack[64]{};
  std::uint64_t unpacked = 0;
  constexpr explicit packing(unsigned width) {
    for (unsigned i = 0; i < lanes; ++i)
      for (unsigned byte = 0; byte < width; ++byte) {
        pack[width * i + byte] = static_cast<std::uint8_t>(4 * i + byte);
        unpack[4 * i + byte] = static_cast<std::uint8_t>(width * i + byte);
        unpacked |= std::uint64_t{1} << (4 * i + byte);
      }
  }
};
constexpr packing packings[] = {packing(1), packing(2), packing(3), packing(4)};

SKEL_LABEL_TARGET std::byte* put(std::span<node const> labels, std::uint64_t bits, unsigned width,
                                 std::byte* out, std::byte const* end) {
  auto const order = _mm512_load_si512(packings[width - 1].pack);
  for (unsigned i = 0; i < 64; i += lanes) {
    auto const linked = static_cast<__mmask16>(bits >> i);
    auto const some =
        _mm512_maskz_compress_epi32(linked, _mm512_maskz_loadu_epi32(linked, labels.data() + i));
    std::size_t const size = static_cast<unsigned>(_mm_popcnt_u32(linked)) * std::size_t{width};
    auto const packed = _mm512_maskz_permutexvar_epi8(lowest_bits(size), order, some);
    if (end - out >= 64)
      _mm512_storeu_si512(out, packed);  // the next label overwrites what is too many
    else
      _mm512_mask_storeu_epi8(out, lowest_bits(size), packed);  // takes longer
    out += size;
  }
  return out;
}

// Takes what label_stream reads. A label that is not smaller than its node is refused before it is written.
class joiner {
 public:
  explicit joiner(node* parent) : parent_(parent), links_(parent) {}

  void pair(node x, node label) {
    if (label >= x) refuse_labels();
    edge const e{x, label};
    links_.add({&e, 1});
  }

  SKEL_LABEL_TARGET void giant(std::uint64_t first, std::span<std::byte const> bits, node label) {
    auto const all = _mm512_set1_epi32(static_cast<int>(label));
    for (std::size_t at = 0; at < bits.size(); at += sizeof(__mmask16)) {
      auto const x = first + 8 * at;
      auto const self = nodes_from(x);
      link<true>(x, self, _mm512_mask_cmpneq_epi32_mask(mask_at(bits, at), self, all), all);
    }
  }

  SKEL_LABEL_TARGET void marked(std::uint64_t first, std::span<std::byte const> bits, unsigned width,
                                std::span<std::byte const> in) {
    auto const& packed = packings[width - 1];
    auto const order = _mm512_load_si512(packed.unpack);
    auto const* from = in.data();
    auto const* const end = from + in.size();
    for (std::size_t at = 0; at < bits.size(); at += sizeof(__mmask16)) {
      auto const some = mask_at(bits, at);
      std::size_t const size = static_cast<unsigned>(_mm_popcnt_u32(some)) * std::size_t{width};
      auto const bytes =
          end - from >= 64 ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(lowest_bits(size), from);
      auto const labels = _mm512_maskz_permutexvar_epi8(packed.unpacked, order, bytes);
      auto const x = first + 8 * at;
      link<false>(x, nodes_from(x), some, _mm512_maskz_expand_epi32(some, labels));
      from += size;
    }
  }

  SKEL_LABEL_TARGET void dense(std::uint64_t first, unsigned count, std::byte const* from) {
    for (unsigned i = 0; i < count; i += lanes) {
      auto const here = static_cast<__mmask16>(lowest_bits(std::min(count - i, lanes)));
      auto const label = _mm512_maskz_loadu_epi32(here, from + i * sizeof(node));
      auto const self = nodes_from(first + i);
      link<true>(first + i, self, _mm512_mask_cmpneq_epi32_mask(here, label, self), label);
    }
  }

  void finish() { links_.finish(); }

 private:
  static __mmask16 mask_at(std::span<std::byte const> bits, std::size_t at) {
    __mmask16 mask = 0;
    std::memcpy(&mask, bits.data() + at, sizeof mask);
    return mask;
  }

  // What forest_link::add() does, for the nodes of `some`. With `repeat` the same two trees are united again
  // and again: edges like the last one are left out.
  template <bool repeat>
  SKEL_LABEL_TARGET inline void link(std::uint64_t first, __m512i self, __mmask16 some, __m512i label) {
    if (some == 0) return;
    if (_mm512_mask_cmpge_epu32_mask(some, label, self) != 0) refuse_labels();
    auto const above = _mm512_maskz_loadu_epi32(some, parent_ + first);
    auto const roots = _mm512_mask_cmpeq_epi32_mask(some, above, self);
    _mm512_mask_storeu_epi32(parent_ + first, roots, label);
    auto between = static_cast<__mmask16>(some & ~roots);
    if constexpr (repeat) {
      auto const same_above =
          _mm512_mask_cmpeq_epi32_mask(between, above, _mm512_set1_epi32(static_cast<int>(last_.u)));
      auto const same =
          _mm512_mask_cmpeq_epi32_mask(same_above, label, _mm512_set1_epi32(static_cast<int>(last_.v)));
      between = static_cast<__mmask16>(between & ~same);
    }
    if (between == 0) return;
    auto const ends = _mm512_maskz_compress_epi32(between, above);
    auto const others = _mm512_maskz_compress_epi32(between, label);
    auto const low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    auto const high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    auto* const to = links_.room(lanes);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi32(ends, low, others));
    _mm512_storeu_si512(to + lanes / 2, _mm512_permutex2var_epi32(ends, high, others));
    auto const count = static_cast<unsigned>(_mm_popcnt_u32(between));
    links_.added(count);
    if constexpr (repeat) last_ = to[count - 1];
  }

  node* parent_;
  edge last_{};
  forest_link links_;
};

void join(std::span<std::byte const> message, std::span<node> parent) {
  auto const to = std::make_unique<joiner>(parent.data());
  label_stream(parent.size(), *to).read(message);
  to->finish();
}

// A lane is a node, two lanes are an edge; a word of the set is 32 bits.
SKEL_LABEL_TARGET std::size_t leaving(std::span<edge const> edges, std::uint64_t const* set, edge* rest) {
  constexpr std::size_t at_once = lanes / 2;
  auto const one = _mm512_set1_epi64(1), below_word = _mm512_set1_epi32(31);
  std::size_t size = 0;
  for (std::size_t i = 0; i < edges.size(); i += at_once) {
    auto const here = static_cast<__mmask8>(lowest_bits(std::min(edges.size() - i, at_once)));
    auto const ends = _mm512_maskz_loadu_epi64(here, edges.data() + i);
    auto const words = _mm512_i32gather_epi32(_mm512_srli_epi32(ends, 5), set, sizeof(std::uint32_t));
    auto const bits = _mm512_srlv_epi32(words, _mm512_and_si512(ends, below_word));
    auto const both = _mm512_and_si512(bits, _mm512_srli_epi64(bits, 32));
    auto const out = _mm512_mask_testn_epi64_mask(here, both, one);
    _mm512_storeu_si512(rest + size, _mm512_maskz_compress_epi64(out, ends));
    size += static_cast<unsigned>(_mm_popcnt_u32(out));
  }
  return size;
}

}  // namespace
}  // namespace avx512

label_kernel const avx512_label_kernel{
    "avx512",    avx512::runs_here, avx512::mark,   avx512::more_label_bytes,
    avx512::put, avx512::join,      avx512::leaving};

}  // namespace skel::components

#endif
