// The vector kernel for 64-bit ARM: like PSHUFB (product_x86.cpp), with TBL for the look-ups.
#include "storage/product.hpp"
#include "storage/transform.hpp"

#if SKEL_VECTOR_GF && defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>
#include <array>
#include <utility>

namespace skel::storage {

namespace neon {
#define SKEL_GF_TARGET  // every 64-bit ARM has these instructions
#define SKEL_GF_INLINE __attribute__((always_inline)) static inline
struct instructions {
  static constexpr std::size_t width = 16, most_rows = 6, log_rows = 3;
  static constexpr std::size_t wide(std::size_t rows) { return rows <= 4 ? 2 : 1; }
  using vector = uint8x16_t;
  struct operand {
    vector low, high;
  };
  using factor = operand;
  SKEL_GF_INLINE vector load(std::byte const* p) {
    return vld1q_u8(reinterpret_cast<std::uint8_t const*>(p));
  }
  SKEL_GF_INLINE void store(std::byte* p, vector v) { vst1q_u8(reinterpret_cast<std::uint8_t*>(p), v); }
  SKEL_GF_INLINE void stream(std::byte* p, vector v) {
    store(p, v);
  }  // single vectors have no non-temporal store
  static void fence() {}
  SKEL_GF_INLINE vector zero() { return vdupq_n_u8(0); }
  SKEL_GF_INLINE vector sum(vector a, vector b) { return veorq_u8(a, b); }
  SKEL_GF_INLINE operand prepare(vector v) { return {vandq_u8(v, vdupq_n_u8(15)), vshrq_n_u8(v, 4)}; }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    auto const* const table = f.nibbles[cell].data();
    return {vld1q_u8(table), vld1q_u8(table + 16)};
  }
  SKEL_GF_INLINE vector product(factor f, operand x) {
    return veorq_u8(vqtbl1q_u8(f.low, x.low), vqtbl1q_u8(f.high, x.high));
  }
};
#include "storage/product.inl"
#include "storage/transform.inl"
#undef SKEL_GF_INLINE
#undef SKEL_GF_TARGET
}  // namespace neon

void product_neon(product_job const& job) { neon::product(job); }
void transform_neon(transform_job const& job) { neon::transform(job); }

}  // namespace skel::storage

#endif
