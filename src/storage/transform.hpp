// Maps of wide codes in m log m steps instead of m k.
//
// The outputs of a cauchy_form are sums of in(x) / (x + y) with weights. The field is cut into cosets of L
// elements. The inputs of a coset are the values of a polynomial there: the inverse of an additive Fourier
// transform gives its coefficients in the basis of Lin, Chung and Han [Lin14], and the transform gives its
// values on another coset. With the weights 1 / (x + y) the outputs are
//   - on another coset these values times a constant, since the polynomial whose zeros are a coset is
//     constant on every other one;
//   - on the same coset, where the input is 0, the values of the formal derivative.
// The basis is 1, 2, 4, …, so points are the numbers of shards: all codes that linear_map computes are
// computed here with the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skel/storage/kernel.hpp"
#include "storage/cauchy.hpp"
#include "storage/product.hpp"

namespace skel::storage {

struct transform_job;
using transform_function = void (*)(transform_job const&);

/// A cauchy_form as transforms. Application is const and thread-safe.
class transform {
 public:
  /// With cosets of 2^log elements, least_transform_log <= log <= most_transform_log.
  transform(cauchy_form const& form, unsigned log);

  /// The best `log` for this form, or nothing if its matrix takes fewer steps.
  [[nodiscard]] static std::optional<unsigned> worthwhile(cauchy_form const& form);

  /// As linear_map::apply().
  void apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs, std::size_t size,
             kernel with = default_kernel()) const;

 private:
  struct side {                        // sources or outputs
    std::vector<element> bases;        // of its cosets
    std::vector<std::int16_t> shards;  // of each row of each coset; -1: none
    std::vector<element> weights;      // likewise
    factor_list factors;               // the weights; empty if all are 1
    std::size_t count = 0;             // of shards

    side(std::span<cauchy_form::place const> places, unsigned log);
    // The weight that all shards have, or nothing.
    [[nodiscard]] std::optional<element> common_weight() const;
    // The pointer of each row, or `none`.
    template <class Byte>
    [[nodiscard]] std::vector<Byte*> rows(std::span<Byte* const> pointers, Byte* none) const;
  };
  void weigh();
  static void run_padded(transform_function function, transform_job job, std::size_t size);

  unsigned log_;
  side sources_, outputs_;
  factor_list cross_;  // the constants: of output coset o and source coset s at o * cosets + s
  bool own_ = false;   // a coset has both
};

/// The work of a kernel. Row r of a coset has the point base + r.
struct transform_job {
  factor_view const* skews;  // [layer]: the factors of its butterflies, at point >> (layer + 1)
  unsigned log;              // of the number L of rows of a coset
  std::span<element const> from_bases, to_bases;
  // Row r of coset s at s * L + r, and behind them transform_rows_ahead more, which are only prefetched.
  std::byte const* const* from;
  std::byte* const* to;                  // null: not wanted
  factor_view from_weights, to_weights;  // of each row; null: all are 1
  factor_view cross;                     // of output coset o and source coset s at o * cosets + s
  factor_view growth, shrink;  // make the derivative a sum of rows; null if no coset is on both sides
  std::size_t size;            // in bytes, a multiple of transform_strip
  std::size_t ahead;           // bytes by which sources are prefetched; 0: not
  bool streamed;               // outputs are written past the caches
};

/// Bytes of each shard that are transformed at a time: all rows then stay in the first cache.
inline constexpr std::size_t transform_strip = 64;
inline constexpr unsigned least_transform_log = 3, most_transform_log = 7;
inline constexpr std::size_t transform_rows_ahead = 16;        // of pointers
inline constexpr std::size_t most_transform_rows = 256 + 128;  // of all source cosets and one output coset

/// Returns null if the kernel was not built in or does not run on this processor.
[[nodiscard]] transform_function transform_of(kernel k);

void transform_table(transform_job const& job);
#if SKEL_VECTOR_GF && defined(__x86_64__)
void transform_ssse3(transform_job const& job);
void transform_avx2(transform_job const& job);
void transform_avx2_gfni(transform_job const& job);
void transform_avx512(transform_job const& job);
void transform_avx512_gfni(transform_job const& job);
#endif
#if SKEL_VECTOR_GF && defined(__aarch64__)
void transform_neon(transform_job const& job);
#endif

}  // namespace skel::storage
