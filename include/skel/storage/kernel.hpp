// How products over GF(2^8) are computed: by table look-up [Camargo06], or with vector
// instructions. All kernels give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel::storage {

/// Ways to compute products, from the slowest to the fastest on one kind of processor.
enum class kernel : std::uint8_t {
  table,        ///< a look-up per product ("we perform simple table lookup"): runs everywhere
  ssse3,        ///< two look-ups of 16 entries in a register (PSHUFB)
  avx2,         ///< the same with 32 bytes
  avx2_gfni,    ///< an 8 x 8 matrix of bits per product (GF2P8AFFINEQB), 32 bytes
  avx512,       ///< PSHUFB with 64 bytes
  avx512_gfni,  ///< GF2P8AFFINEQB with 64 bytes
  neon,         ///< TBL of 64-bit ARM
  automatic,    ///< the one that measuring finds the fastest for the shape of a product
};

/// The name: "table", "ssse3", "avx2", "avx2-gfni", "avx512", "avx512-gfni", "neon" or "auto".
[[nodiscard]] std::string_view to_string(kernel k);

/// The kernels that were built in (SKEL_VECTOR_GF) and run on this processor, the slowest first.
/// `table` always does.
[[nodiscard]] std::vector<kernel> kernels();

/// The kernel of this name. Throws a usage_error that lists the known kernels, or those that run
/// here.
[[nodiscard]] kernel kernel_named(std::string_view name);

/// The kernel that the environment variable SKEL_GF_KERNEL names, or `automatic`. Read once.
/// A named kernel is used without measuring, so its timings can be repeated.
[[nodiscard]] kernel default_kernel();

}  // namespace skel::storage
