// Concave polygons into convex pieces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "vec3.hpp"

namespace raytrace {

/// A convex piece of a polygon: 3 or 4 of its corners, in its order of rotation. `outer` bit i: the edge from
/// corner i to the next is an edge of the polygon, not a diagonal that a neighbouring piece shares.
struct piece {
  std::array<std::uint32_t, 4> corner{};
  std::uint32_t corners = 3;
  std::uint32_t outer = 0;
};

/// Twice the area times the unit normal, by Newell's sum: right for concave polygons, and the mean plane of
/// polygons that are not quite flat.
vec3d newell_normal(std::span<vec3d const> corners);

/// Ear clipping (Meisters 1975) seen along `normal`; time is at most quadratic. Two triangles that form a
/// convex quadrilateral become one piece unless `triangles_only`. Degenerate polygons give degenerate pieces
/// or none; a corner that equals the next one is left out.
std::vector<piece> triangulate(std::span<vec3d const> corners, vec3d normal, bool triangles_only);

}  // namespace raytrace
