// Intersects one ray with one shape. Every accelerator uses this arithmetic, operation by operation
// (bvh_tracer.inl for eight shapes at a time), so t has the same bits in all of them.
//
// No accelerator loses a hit: the rounded point of a hit is in the volume of its shape
// (geometry.cpp). A slab test computes an interval of t for that volume, with its planes moved
// outwards by a slack that exceeds the rounding of the point and of the test together, so t is in
// the interval. Since rounding is monotone, t is also in the interval of every enclosing volume.
// (Ize, "Robust BVH Ray Traversal", JCGT 2(2), 2013, and Pharr, Jakob and Humphreys, "Physically
// Based Rendering", 3.9, widen the interval instead.)
#pragma once

#include "geometry.hpp"

namespace raytrace {

/// A ray whose origin is within geometry::reach and whose direction has length 1.
struct ray {
  vec3f origin, direction;
};

/// Tolerance of the squared length of a direction; the points of hits on balls move with it.
constexpr float unit_tolerance = 64 * unit_roundoff;

/// The slack in units of geometry::reach. An axis needs 10 roundings, with or without fused operations: 3 for
/// o + t d, 2 for t / d, 4 for the distances of plane and origin times 1 / d, and 1 for moving the plane.
constexpr float box_slack = 12 * unit_roundoff;
/// A diagonal needs 52: 14 for o + t d and its sum of three coordinates, 5 for the origin's sum, 17 for the
/// direction's times t, 10 for moving the plane and its distance from the origin, 6 for dividing by the
/// direction's sum.
constexpr float slab_slack = 64 * unit_roundoff;

constexpr std::uint32_t no_hit = ~std::uint32_t{0};

/// The nearest hit so far. Among hits with equal t, the smaller id wins.
struct hit {
  float t = 3.402823466e+38F;
  std::uint32_t id = no_hit;
};

SKEL_RT_INLINE void keep_nearer(hit& best, float t, std::uint32_t id) {
  if (t < best.t || (t == best.t && id < best.id)) best = {t, id};
}

/// Whether the point of a hit lies in the volume; false for NaN.
SKEL_RT_INLINE bool inside(volume const& v, ray const& r, float t) {
  float at[plane_sets];
  slab_coordinates(r.origin + t * r.direction, at);
  for (int s = 0; s < plane_sets; ++s) {
    if (!(v.low[s] <= at[s] && at[s] <= v.high[s])) return false;
  }
  return true;
}

/// Returns t > 0 where the ray meets the facet, otherwise -1.
SKEL_RT_INLINE float intersect(facet const& f, ray const& r) {
  float const t = (f.face.offset - dot(f.face.normal, r.origin)) / dot(f.face.normal, r.direction);
  if (!(t > 0) || !(t < 3.402823466e+38F)) return -1;
  vec3f const p = r.origin + t * r.direction;
  for (auto const& e : f.edge) {
    if (!(dot(e.normal, p) + e.offset >= 0)) return -1;
  }
  return t;
}

/// Haines, Günther, Akenine-Möller, "Precision Improvements for Ray/Sphere Intersection" (Ray Tracing Gems,
/// 7): the discriminant from the ray's nearest point to the centre does not cancel for small or far spheres.
SKEL_RT_INLINE float intersect(ball const& s, ray const& r) {
  vec3f const f = r.origin - s.center;
  float const b = -dot(f, r.direction);
  vec3f const nearest = f + b * r.direction;
  float const discriminant = s.radius_squared - dot(nearest, nearest);
  if (!(discriminant >= 0)) return -1;
  float const half = __builtin_sqrtf(discriminant);
  float const near = b - half;
  float const t = near > 0 ? near : b + half;
  return t > 0 ? t : -1;
}

/// The mantle has the radius R + g t at the height of the ray's point a + t d, both seen along the axis. With
/// v = R d - g a, the discriminant and the radius of a hit do not subtract squares of R and g, which are
/// large in flat cones.
SKEL_RT_INLINE float intersect(frustum const& c, ray const& r) {
  vec3d const way = to_double(r.direction), q = to_double(r.origin) - c.base;
  double const height = dot(c.axis, q), rise = dot(c.axis, way);
  vec3d const a = q - height * c.axis, d = way - rise * c.axis;
  double const radius = c.base_radius + c.slope * height, growth = c.slope * rise;
  vec3d const v = radius * d - growth * a;
  double const qa = dot(d, d) - growth * growth, m = dot(v, d);
  double t[2], at[2];  // the distances of hits and the radii there
  int count = 1;
  if (qa < 0) {  // the ray meets both nappes, and one of them has a positive radius
    double const root = __builtin_sqrt(m * m - qa * dot(v, v));
    at[0] = m > 0 ? dot(v, v) / (m + root) : (m - root) / qa;
    t[0] = (at[0] - radius) / growth;
  } else {
    vec3d const moment = cross(a, d);
    double const discriminant = dot(v, v) - dot(moment, moment);
    if (!(discriminant >= 0)) return -1;
    double const s = __builtin_sqrt(discriminant), b = dot(a, d) - radius * growth;
    double const k = b > 0 ? -b - s : s - b;  // the sum that does not cancel
    double const first = k / qa, second = k != 0 ? (dot(a, a) - radius * radius) / k : first;
    t[0] = first < second ? first : second;
    t[1] = first < second ? second : first;
    at[0] = radius + growth * t[0];
    at[1] = radius + growth * t[1];
    count = 2;
  }
  double const thin = c.base_radius < c.apex_radius ? c.base_radius : c.apex_radius;
  double const thick = c.base_radius < c.apex_radius ? c.apex_radius : c.base_radius;
  bool const flat = c.slope > 1 || c.slope < -1;  // the radius of a point says more than its height
  for (int i = 0; i < count; ++i) {
    double const h = height + t[i] * rise;
    float const rounded = static_cast<float>(t[i]);
    if (!(rounded > 0) || !(t[i] < 1e30)) continue;
    if (flat ? at[i] >= thin && at[i] <= thick : h >= 0 && h <= c.length) return rounded;
  }
  return -1;
}

}  // namespace raytrace
