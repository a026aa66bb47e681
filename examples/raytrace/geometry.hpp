// A scene prepared for tracing: flat arrays of simple shapes in single precision. Coordinates are
// relative to the eye, from which they are subtracted in double precision: a scene far from the origin
// keeps its digits.
//
// Single precision gives twice as many lanes per instruction as double and halves the memory.
// Origins offset from the surface (shading.hpp) and padded volumes keep rounding errors out of the
// picture.
#pragma once

#include <cstdint>
#include <vector>

#include "scene.hpp"

namespace raytrace {

/// Half the distance from 1 to the next float: the relative error of one rounding.
constexpr float unit_roundoff = 1.0F / (1 << 24);

/// dot(normal, p) + offset
struct plane {
  vec3f normal;
  float offset = 0;
};

/// A convex piece of a polygon with 3 or 4 edges. A ray meets the polygon's plane at p; p is in the
/// piece if no edge plane is negative. All pieces of a flat polygon share the bits of `face`, and
/// the edge planes of two pieces at a diagonal differ only in sign. Both therefore compute the same
/// p, and no p is in neither: there are no cracks. Edges of the polygon itself are moved outwards
/// by a few roundings, which closes the seams between polygons. With three edges, the fourth
/// repeats the third.
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

/// Computed in double: cones are rare.
struct frustum {
  vec3d base, axis;  ///< axis has length 1
  double length = 0, base_radius = 0, apex_radius = 0, slope = 0;
  std::uint32_t id = 0;
};

/// The data of shape `id` that shading needs.
struct surface {
  /// A sliver is a facet so thin that computed hits may lie far outside; its hits are clipped.
  enum class shape : std::uint8_t { facet, ball, frustum, sliver } kind{};
  bool inward = false;      ///< negative radius
  std::uint32_t index = 0;  ///< into the array of its kind
  std::uint32_t material = 0;
  std::uint32_t primitive = 0;              ///< of the scene
  std::uint32_t patch = ~std::uint32_t{0};  ///< into geometry::patches
};

/// A triangle of a `pp` patch. A point's distance from the edge opposite to corner i, as a share of that
/// corner's, is the weight of normal i.
struct patch_triangle {
  vec3f corner;     ///< corner 0
  vec3f weight[2];  ///< the gradients of the weights of normals 1 and 2, which are 0 at corner 0
  vec3f normal[3];
};

struct shade_material {
  vec3f diffuse;  ///< Kd times colour
  float specular = 0, shine = 0, transmittance = 0, refraction = 1;
};

struct shade_light {
  vec3f position, color;
};

/// The directions of Kay and Kajiya's plane sets: the coordinate axes, then (+-1, +-1, 1).
constexpr int plane_sets = 7;

/// The volume of a shape: the points whose slab_coordinates() lie in [low, high]. It contains the
/// rounded points of all its hits: for facets and balls by their error bounds (geometry.cpp), for
/// slivers and frusta because other hits are discarded.
struct volume {
  float low[plane_sets], high[plane_sets];
};

struct geometry {
  std::vector<facet> facets;
  std::vector<ball> balls;
  std::vector<frustum> frusta;
  std::vector<surface> surfaces;  ///< by id; ids follow the order of the file
  std::vector<patch_triangle> patches;
  std::vector<volume> volumes;            ///< by id
  std::vector<vec3f> hull_points;         ///< corners of the facets, for other ray tracers
  std::vector<std::uint32_t> hull_first;  ///< first corner of each facet in hull_points, and the end
  std::vector<shade_material> materials;
  std::vector<shade_light> lights;
  vec3f background;
  float reach = 0;  ///< bound on the coordinates of volumes and ray origins
};

/// Returns the volume with its planes moved outwards, in units of slab_coordinates().
inline volume widened(volume v, float slack) {
  for (int s = 0; s < plane_sets; ++s) {
    v.low[s] -= slack;
    v.high[s] += slack;
  }
  return v;
}

/// Dot products with the directions of the plane sets.
template <class real>
SKEL_RT_INLINE void slab_coordinates(vec3<real> p, real (&along)[plane_sets]) {
  real const sum = p.x + p.y, difference = p.y - p.x;
  along[0] = p.x;
  along[1] = p.y;
  along[2] = p.z;
  along[3] = p.z + sum;
  along[4] = p.z + difference;
  along[5] = p.z - sum;
  along[6] = p.z - difference;
}

/// Prepares a scene, relative to its eye. `triangles_only`: no quadrilateral facets.
geometry prepare(scene const& world, bool triangles_only = false);

}  // namespace raytrace
