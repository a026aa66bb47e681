// Whitted's illumination model (CACM 23(6), 1980) with NFF's materials: no ambient term, shadow
// rays that any surface stops (also a transmitting one), reflection, refraction, and a fixed depth.
// Rays are not cut off by weight, because SPD's published ray counts are those of the whole tree.
#pragma once

#include "camera.hpp"

namespace raytrace {

struct ray_counts {
  std::uint64_t primary = 0, primary_hits = 0, shadow = 0, reflected = 0, refracted = 0;

  SKEL_RT_INLINE ray_counts& operator+=(ray_counts const& o) {
    primary += o.primary;
    primary_hits += o.primary_hits;
    shadow += o.shadow;
    reflected += o.reflected;
    refracted += o.refracted;
    return *this;
  }
  friend bool operator==(ray_counts const&, ray_counts const&) = default;
};

/// Rays that are traced and shaded together.
constexpr int packet = 16;

/// Pointers into a geometry, without code that instruction sets could share.
struct world_view {
  facet const* facets;
  ball const* balls;
  frustum const* frusta;
  surface const* surfaces;
  volume const* volumes;
  patch_triangle const* patches;
  shade_material const* materials;
  shade_light const* lights;
  std::uint32_t light_count;
  int depth;  ///< generations of rays, the primary ray being the first
  vec3f background;
  raytrace::camera camera;
};

/// The point where a ray meets the scene. `normal` points outwards and is not yet turned to the
/// ray.
struct contact {
  vec3f point, normal, shading_normal;
  float offset;  ///< distance from the surface at which new rays start
  std::uint32_t material;
};

}  // namespace raytrace
