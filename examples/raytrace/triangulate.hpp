// Cuts concave polygons into convex pieces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "vec3.hpp"

namespace raytrace {

/// A convex piece of a polygon: 3 or 4 of its corners, in its orientation. `outer` bit i is set if
/// the edge from corner i to the next is an edge of the polygon, not a diagonal shared with another
/// piece.
struct piece {
  std::array<std::uint32_t, 4> corner{};
  std::uint32_t corners = 3;
  std::uint32_t outer = 0;
};

/// Twice the area times the unit normal, by Newell's sum. Correct for concave polygons; the mean
/// plane for polygons that are not quite flat.
vec3d newell_normal(std::span<vec3d const> corners);

/// Ear clipping (Meisters 1975) seen along `normal`, in at most quadratic time. Two triangles that
/// form a convex quadrilateral become one piece unless `triangles_only`. Degenerate polygons give
/// degenerate pieces or none; a corner that equals the next one is dropped.
std::vector<piece> triangulate(std::span<vec3d const> corners, vec3d normal, bool triangles_only);

}  // namespace raytrace
