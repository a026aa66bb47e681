// Vector kernels for x86-64. Each function names the instructions that it may use, so no compiler
// flags are needed and the rest of the program is compiled without them.
//
// Products by look-up: a byte is the sum of its halves, so a product is the sum of two entries of
// tables of 16. PSHUFB looks them up for all bytes of a vector (Plank, Greenan, Miller 2013).
// Products by bits: multiplication by a constant is linear over {0, 1}, hence an 8 x 8 matrix of
// bits, which GF2P8AFFINEQB applies to all bytes.
#include "storage/product.hpp"
#include "storage/transform.hpp"

#if SKEL_VECTOR_GF && defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

// GCC 12 warns of its own headers (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace skel::storage {

#define SKEL_GF_INLINE SKEL_GF_TARGET __attribute__((always_inline)) static inline

namespace ssse3 {
#define SKEL_GF_TARGET __attribute__((target("ssse3")))
struct instructions {
  static constexpr std::size_t width = 16, most_rows = 4, log_rows = 2;
  static constexpr std::size_t wide(std::size_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }
  using vector = __m128i;
  struct operand {
    vector low, high;
  };
  using factor = operand;
  SKEL_GF_INLINE vector load(std::byte const* p) {
    return _mm_loadu_si128(reinterpret_cast<vector const*>(p));
  }
  SKEL_GF_INLINE void store(std::byte* p, vector v) { _mm_storeu_si128(reinterpret_cast<vector*>(p), v); }
  SKEL_GF_INLINE void stream(std::byte* p, vector v) { _mm_stream_si128(reinterpret_cast<vector*>(p), v); }
  static void fence() { _mm_sfence(); }
  SKEL_GF_INLINE vector zero() { return _mm_setzero_si128(); }
  SKEL_GF_INLINE vector sum(vector a, vector b) { return _mm_xor_si128(a, b); }
  SKEL_GF_INLINE operand prepare(vector v) {
    auto const mask = _mm_set1_epi8(15);
    return {_mm_and_si128(v, mask), _mm_and_si128(_mm_srli_epi64(v, 4), mask)};
  }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    auto const* const table = reinterpret_cast<vector const*>(f.nibbles[cell].data());
    return {_mm_loadu_si128(table), _mm_loadu_si128(table + 1)};
  }
  SKEL_GF_INLINE vector product(factor f, operand x) {
    return _mm_xor_si128(_mm_shuffle_epi8(f.low, x.low), _mm_shuffle_epi8(f.high, x.high));
  }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_TARGET
}  // namespace ssse3

namespace avx2 {
#define SKEL_GF_TARGET __attribute__((target("avx2")))
struct vectors {
  using vector = __m256i;
  SKEL_GF_INLINE vector load(std::byte const* p) {
    return _mm256_loadu_si256(reinterpret_cast<vector const*>(p));
  }
  SKEL_GF_INLINE void store(std::byte* p, vector v) { _mm256_storeu_si256(reinterpret_cast<vector*>(p), v); }
  SKEL_GF_INLINE void stream(std::byte* p, vector v) { _mm256_stream_si256(reinterpret_cast<vector*>(p), v); }
  static void fence() { _mm_sfence(); }
  SKEL_GF_INLINE vector zero() { return _mm256_setzero_si256(); }
  SKEL_GF_INLINE vector sum(vector a, vector b) { return _mm256_xor_si256(a, b); }
};
struct instructions : vectors {
  static constexpr std::size_t width = 32, most_rows = 4, log_rows = 2;
  static constexpr std::size_t wide(std::size_t rows) { return rows == 1 ? 4 : 2; }
  struct operand {
    vector low, high;
  };
  using factor = operand;
  SKEL_GF_INLINE operand prepare(vector v) {
    auto const mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(v, mask), _mm256_and_si256(_mm256_srli_epi64(v, 4), mask)};
  }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    auto const* const table = reinterpret_cast<__m128i const*>(f.nibbles[cell].data());
    return {_mm256_broadcastsi128_si256(_mm_loadu_si128(table)),
            _mm256_broadcastsi128_si256(_mm_loadu_si128(table + 1))};
  }
  SKEL_GF_INLINE vector product(factor f, operand x) {
    return _mm256_xor_si256(_mm256_shuffle_epi8(f.low, x.low), _mm256_shuffle_epi8(f.high, x.high));
  }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_TARGET
}  // namespace avx2

namespace avx2_gfni {
#define SKEL_GF_TARGET __attribute__((target("avx2,gfni")))
struct instructions : avx2::vectors {
  static constexpr std::size_t width = 32, most_rows = 6, log_rows = 3;
  static constexpr std::size_t wide(std::size_t rows) { return rows <= 2 ? 4 : 2; }
  using operand = vector;
  using factor = vector;
  SKEL_GF_INLINE operand prepare(vector v) { return v; }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    return _mm256_set1_epi64x(static_cast<long long>(f.bits[cell]));
  }
  SKEL_GF_INLINE vector product(factor f, operand x) { return _mm256_gf2p8affine_epi64_epi8(x, f, 0); }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_TARGET
}  // namespace avx2_gfni

namespace avx512 {
#define SKEL_GF_TARGET __attribute__((target("avx512f,avx512bw")))
struct vectors {
  using vector = __m512i;
  static constexpr std::size_t width = 64;
  SKEL_GF_INLINE vector load(std::byte const* p) { return _mm512_loadu_si512(p); }
  SKEL_GF_INLINE void store(std::byte* p, vector v) { _mm512_storeu_si512(p, v); }
  SKEL_GF_INLINE void stream(std::byte* p, vector v) { _mm512_stream_si512(reinterpret_cast<vector*>(p), v); }
  static void fence() { _mm_sfence(); }
  SKEL_GF_INLINE vector zero() { return _mm512_setzero_si512(); }
  SKEL_GF_INLINE vector sum(vector a, vector b) { return _mm512_xor_si512(a, b); }
};
struct instructions : vectors {
  static constexpr std::size_t most_rows = 8, log_rows = 3;
  static constexpr std::size_t wide(std::size_t rows) { return rows <= 2 ? 4 : 2; }
  struct operand {
    vector low, high;
  };
  using factor = operand;
  SKEL_GF_INLINE operand prepare(vector v) {
    auto const mask = _mm512_set1_epi8(15);
    return {_mm512_and_si512(v, mask), _mm512_and_si512(_mm512_srli_epi64(v, 4), mask)};
  }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    auto const* const table = reinterpret_cast<__m128i const*>(f.nibbles[cell].data());
    return {_mm512_broadcast_i32x4(_mm_loadu_si128(table)),
            _mm512_broadcast_i32x4(_mm_loadu_si128(table + 1))};
  }
  SKEL_GF_INLINE vector product(factor f, operand x) {
    return _mm512_xor_si512(_mm512_shuffle_epi8(f.low, x.low), _mm512_shuffle_epi8(f.high, x.high));
  }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_TARGET
}  // namespace avx512

namespace avx512_gfni {
#define SKEL_GF_TARGET __attribute__((target("avx512f,avx512bw,gfni")))
struct instructions : avx512::vectors {
  static constexpr std::size_t most_rows = 8, log_rows = 4;
  static constexpr std::size_t wide(std::size_t rows) { return rows <= 4 ? 4 : 2; }
  using operand = vector;
  using factor = vector;
  SKEL_GF_INLINE operand prepare(vector v) { return v; }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    return _mm512_set1_epi64(static_cast<long long>(f.bits[cell]));
  }
  SKEL_GF_INLINE vector product(factor f, operand x) { return _mm512_gf2p8affine_epi64_epi8(x, f, 0); }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_TARGET
}  // namespace avx512_gfni

#undef SKEL_GF_INLINE

void product_ssse3(product_job const& job) { ssse3::product(job); }
void transform_ssse3(transform_job const& job) { ssse3::transform(job); }
void product_avx2(product_job const& job) { avx2::product(job); }
void transform_avx2(transform_job const& job) { avx2::transform(job); }
void product_avx2_gfni(product_job const& job) { avx2_gfni::product(job); }
void transform_avx2_gfni(transform_job const& job) { avx2_gfni::transform(job); }
void product_avx512(product_job const& job) { avx512::product(job); }
void transform_avx512(transform_job const& job) { avx512::transform(job); }
void product_avx512_gfni(product_job const& job) { avx512_gfni::product(job); }
void transform_avx512_gfni(transform_job const& job) { avx512_gfni::transform(job); }

}  // namespace skel::storage

#endif
