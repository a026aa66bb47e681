// The job of a kernel, and the functions that execute it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skel/storage/kernel.hpp"
#include "storage/linear_map.hpp"

namespace skel::storage {

/// How vector kernels pass over memory. The bytes are the same.
struct pass_options {
  std::size_t most_rows = ~std::size_t{0};  // outputs at a time, at most those that registers hold
  std::size_t ahead = 2048;                 // bytes by which sources are prefetched; 0: not
  bool streamed = false;                    // outputs are written past the caches
};

/// Computes outputs[i] (+)= sum over j of cell(i, j) sources[j]. Tables are stored by column: cell
/// (i, j) has number j * rows + i.
struct product_job {
  factor_view cells;
  std::size_t rows, columns;
  std::byte const* const* sources;
  std::byte* const* outputs;
  std::size_t begin, end;  // the bytes to compute; begin is a multiple of 64
  bool add;                // adds to the outputs instead of overwriting them
  bool plain;              // all cells are 1
  pass_options how{};
};

using product_function = void (*)(product_job const&);

void product_table(product_job const& job);
/// Processes only the bytes from `begin` on: the remainder that fills no vector.
void product_table_from(product_job const& job, std::size_t begin);

#if SKEL_VECTOR_GF && defined(__x86_64__)
void product_ssse3(product_job const& job);
void product_avx2(product_job const& job);
void product_avx2_gfni(product_job const& job);
void product_avx512(product_job const& job);
void product_avx512_gfni(product_job const& job);
#endif
#if SKEL_VECTOR_GF && defined(__aarch64__)
void product_neon(product_job const& job);
#endif

/// Returns null if the kernel was not built in or does not run on this processor.
[[nodiscard]] product_function function_of(kernel k);

}  // namespace skel::storage
