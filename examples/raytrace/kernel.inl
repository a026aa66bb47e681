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
#include "bvh_tracer.inl"
// clang-format on

void render(world_view const& world, bvh_view const& tree, pixel_range const& part, float* out,
            ray_counts& counts) {
  bvh_tracer tracer(world, tree);
  whitted<bvh_tracer> shader(world, tracer);
  for (int y = part.y0; y < part.y1; ++y) {
    for (int x = part.x0; x < part.x1; ++x) {
      vec3f const color = shader.primary(world.camera.through(x, y));
      *out++ = color.x;
      *out++ = color.y;
      *out++ = color.z;
    }
  }
  counts += shader.counts();
}

hit closest(world_view const& world, bvh_view const& tree, ray const& r) {
  return bvh_tracer(world, tree).closest(r);
}

}  // namespace

kernel const functions{SKEL_RT_NAME, render, closest};

}  // namespace raytrace::SKEL_RT_TARGET
