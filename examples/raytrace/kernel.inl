// See kernel.hpp.
#include "kernel.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace raytrace::SKEL_RT_TARGET {

namespace {

// The order matters.
// clang-format off
#include "shading.inl"
#include "simd.inl"
#include "packet.inl"
#include "bvh_tracer.inl"
// clang-format on

void render(world_view const& world, bvh_view const& tree, pixel_range const& part, float* out,
            ray_counts& counts) {
  bvh_tracer tracer(world, tree);
  whitted<bvh_tracer> shader(world, tracer);
  shader.render(part.x0, part.y0, part.x1, part.y1, out);
  counts += shader.counts();
}

void closest(world_view const& world, bvh_view const& tree, ray const* rays, int n, hit* hits) {
  bvh_tracer(world, tree).closest(rays, n, hits);
}

}  // namespace

kernel const functions{SKEL_RT_NAME, render, closest};

}  // namespace raytrace::SKEL_RT_TARGET
