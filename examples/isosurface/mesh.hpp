// An indexed mesh of triangles: isosurfaces of one or several values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isosurface {

using point = std::array<float, 3>;

/// The surface of one value: vertices [first_vertex, end_vertex) and triangles [first_triangle,
/// end_triangle) of the mesh. Surfaces share no vertices.
struct surface_part {
  double value = 0;
  std::size_t first_vertex = 0, end_vertex = 0;
  std::size_t first_triangle = 0, end_triangle = 0;
};

/// An indexed mesh. Each triangle names three vertices, counter-clockwise as seen from the side of
/// lower values. Normals have length 1 and point to that side (a solid of high values, such as bone
/// in a tomogram, looks right). At points without a gradient they are those of the surrounding
/// triangles.
struct mesh {
  std::vector<point> positions;  ///< in the units of the volume's coordinates
  std::vector<point> normals;    ///< one per position
  std::vector<std::array<std::uint32_t, 3>> triangles;
  std::vector<surface_part> parts;  ///< one per value, in order, without gaps
};

}  // namespace isosurface
