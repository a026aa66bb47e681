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

SKEL_RT_INLINE int part_of(std::size_t n) { return n < packet ? static_cast<int>(n) : packet; }

void render(world_view const& world, bvh_view const& tree, pixel_range const& part, float* out,
            ray_counts& counts) {
  bvh_tracer tracer(world, tree);
  whitted<bvh_tracer> shader(world, tracer);
  shader.render(part.x0, part.y0, part.x1, part.y1, out);
  counts += shader.counts();
}

void closest(world_view const& world, bvh_view const& tree, ray const* rays, std::size_t n, hit* hits) {
  bvh_tracer tracer(world, tree);
  for (std::size_t i = 0; i < n; i += packet) tracer.closest(rays + i, part_of(n - i), hits + i);
}

void occluded(world_view const& world, bvh_view const& tree, ray const* rays, float const* distance,
              std::size_t n, bool* hidden) {
  bvh_tracer tracer(world, tree);
  for (std::size_t i = 0; i < n; i += packet) {
    int const some = part_of(n - i);
    unsigned const found = tracer.occluded(rays + i, distance + i, some, 0);
    for (int k = 0; k < some; ++k) hidden[i + static_cast<std::size_t>(k)] = (found >> k & 1) != 0;
  }
}

}  // namespace

kernel const functions{SKEL_RT_NAME, render, closest, occluded};

}  // namespace raytrace::SKEL_RT_TARGET
