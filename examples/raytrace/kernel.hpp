// The code that traces rays. It is compiled once per instruction set and chosen at run time, so
// that one program uses AVX2 if available and also runs without it. kernel_*.cpp define
// SKEL_RT_TARGET and include kernel.inl, which puts everything into a namespace of that name.
// Rules:
//   - the *.inl files must not use functions of the standard library or shared inline functions that
//     could exist out of line: the linker keeps one copy, possibly with unsupported instructions;
//   - shapes are intersected with the same operations in the same order and without contraction, so all
//     instruction sets give the same bits; only padded boxes may use fused operations.
#pragma once

#include "bvh.hpp"
#include "shading.hpp"

namespace raytrace {

struct pixel_range {
  int x0, y0, x1, y1;  ///< pixels x0 <= x < x1
};

/// Writes (x1 - x0) (y1 - y0) colours row by row, three floats each.
using bvh_kernel = void (*)(world_view const&, bvh_view const&, pixel_range const&, float* out, ray_counts&);
/// Find the nearest hits of n rays, and those that something stops before their distance: for tests and
/// benchmarks.
using bvh_closest = void (*)(world_view const&, bvh_view const&, ray const*, std::size_t n, hit*);
using bvh_occluded = void (*)(world_view const&, bvh_view const&, ray const*, float const* distance,
                              std::size_t n, bool* hidden);

struct kernel {
  char const* name;
  bvh_kernel render;
  bvh_closest closest;
  bvh_occluded occluded;
};

namespace portable {
extern kernel const functions;
}
#if SKEL_RT_HAVE_AVX2
namespace avx2 {
extern kernel const functions;
}
#endif

/// The best kernel for this processor.
kernel const& best_kernel();
/// Returns the kernel of this name, or nullptr if the program or the processor lacks it:
/// `portable`, `avx2`.
kernel const* find_kernel(char const* name);

}  // namespace raytrace
