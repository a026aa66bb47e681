// How products over GF(2^8) are computed: the paper's table look-up, or the vector instructions of this
// processor. All kernels give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel::storage {

/// From the slowest to the fastest of one kind of processor.
enum class kernel : std::uint8_t {
  table,        ///< a look-up per product ("we perform simple table lookup"): runs everywhere
  ssse3,        ///< two look-ups of 16 entries in a register (PSHUFB)
  avx2,         ///< the same with 32 bytes
  avx2_gfni,    ///< an 8 x 8 matrix of bits per product (GF2P8AFFINEQB), 32 bytes
  avx512,       ///< PSHUFB with 64 bytes
  avx512_gfni,  ///< GF2P8AFFINEQB with 64 bytes
  neon,         ///< TBL of 64-bit ARM
};

/// "table", "ssse3", "avx2", "avx2-gfni", "avx512", "avx512-gfni", "neon".
[[nodiscard]] std::string_view to_string(kernel k);

/// Those that were built in (SKEL_VECTOR_GF) and that this processor has, the slowest first; `table` is
/// always there.
[[nodiscard]] std::vector<kernel> kernels();

/// The kernel of that name, or the best one for "auto". usage_error that lists the known ones, or those that
/// this machine has.
[[nodiscard]] kernel kernel_named(std::string_view name);

/// What SKEL_GF_KERNEL names, or the best one. Read once.
[[nodiscard]] kernel default_kernel();

}  // namespace skel::storage
