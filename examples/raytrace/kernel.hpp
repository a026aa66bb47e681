// The code that traces rays, compiled once per instruction set and chosen when the program runs, so that one
// program uses AVX2 where there is and still starts where there is not. kernel_*.cpp define SKEL_RT_TARGET
// and include kernel.inl, which puts everything into a namespace of that name. Rules that keep it sound:
//   - nothing in the *.inl files is a standard library function or a shared inline function that could
//     exist out of line (the linker keeps one copy, maybe one with instructions that this processor lacks);
//   - shapes are intersected with the same operations in the same order and without contraction, so all
//     instruction sets give the same bits; only padded boxes may use fused operations.
#pragma once

#include "bvh.hpp"
#include "shading.hpp"

namespace raytrace {

struct rectangle {
  int x0, y0, x1, y1;  ///< pixels x0 <= x < x1
};

/// Writes (x1 - x0) (y1 - y0) colours row by row, three floats each.
using bvh_kernel = void (*)(world_view const&, bvh_view const&, rectangle const&, float* out, ray_counts&);
/// The nearest hit of any ray, for tests.
using bvh_probe = hit (*)(world_view const&, bvh_view const&, ray const&);

struct kernel {
  char const* name;
  bvh_kernel render;
  bvh_probe closest;
};

namespace portable {
extern kernel const functions;
}
#if SKEL_RT_HAVE_AVX2
namespace avx2 {
extern kernel const functions;
}
#endif

/// The best for this processor.
kernel const& best_kernel();
/// By name, nullptr if this program or this processor does not have it: `portable`, `avx2`.
kernel const* find_kernel(char const* name);

}  // namespace raytrace
