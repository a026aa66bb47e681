// A scene prepared for tracing: flat arrays of simple shapes in single precision.
//
// Why float: twice as many lanes per instruction as double, and half the memory; rounding errors are kept
// away from the picture by origins offset from the surface (shading.hpp) and boxes padded in proportion to
// `scale`.
#pragma once

#include <cstdint>
#include <vector>

#include "scene.hpp"

namespace skel::raytrace {

/// dot(normal, p) + offset
struct plane {
  vec3f normal;
  float offset = 0;
};

/// A convex piece of a polygon with 3 or 4 edges. A ray meets the polygon's plane at p; p is in the piece
/// where no edge plane is negative. All pieces of a flat polygon share the bits of `face`, and the two pieces
/// at a diagonal have edge planes that differ only in sign, so both compute the same p and no p is in
/// neither: no cracks. Edges of the polygon itself are moved outwards by a few roundings, which closes the
/// seams between polygons. Three edges: the fourth repeats the third.
struct facet {
  plane face;  ///< the point is at dot(normal, p) = offset
  plane edge[4];
  std::uint32_t id = 0;
};

struct ball {
  vec3f center;
  float radius = 0, radius_squared = 0;
  std::uint32_t id = 0;
};

/// Calculated in double: conic coefficients cancel badly, and cones are few.
struct frustum {
  vec3d base, axis;  ///< axis has length 1
  double length = 0, base_radius = 0, slope = 0;
  std::uint32_t id = 0;
};

/// What a hit on shape number `id` needs for shading.
struct surface {
  enum class shape : std::uint8_t { facet, ball, frustum } kind{};
  bool inward = false;      ///< negative radius
  std::uint32_t index = 0;  ///< into the array of its kind
  std::uint32_t material = 0;
  std::uint32_t primitive = 0;              ///< of the scene
  std::uint32_t patch = ~std::uint32_t{0};  ///< into geometry::patches
};

/// Corners and normals of a triangle of a `pp` patch.
struct patch_triangle {
  vec3f corner[3];
  vec3f normal[3];
};

struct shade_material {
  vec3f diffuse;  ///< Kd times colour
  float specular = 0, shine = 0, transmittance = 0, refraction = 1;
};

struct shade_light {
  vec3f position, color;
};

struct bounds {
  float low[3], high[3];
};

struct geometry {
  std::vector<facet> facets;
  std::vector<ball> balls;
  std::vector<frustum> frusta;
  std::vector<surface> surfaces;  ///< by id; ids follow the order of the file
  std::vector<patch_triangle> patches;
  std::vector<bounds> boxes;              ///< by id, padded
  std::vector<vec3f> hull_points;         ///< corners of the facets, for slabs
  std::vector<std::uint32_t> hull_first;  ///< by facet: its first corner in hull_points (and the end)
  std::vector<shade_material> materials;
  std::vector<shade_light> lights;
  vec3f background;
  float scale = 1;  ///< largest coordinate of scene and eye: rounding errors are proportional to it
  float pad = 0;    ///< what bounding volumes must add on each side
};

/// Prepares a scene. `triangles_only`: no quadrilateral facets.
geometry prepare(scene const& world, bool triangles_only = false);

}  // namespace skel::raytrace
