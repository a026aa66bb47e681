// The surface of one value in one cell: a fine mesh that is simplified within a tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cell.hpp"
#include "piece_mesh.hpp"

namespace isosurface {

/// A mesh in one cell. Its border lies in the faces of the cell.
struct surface_patch {
  struct vertex {
    edge_key edge = 0;
    std::size_t axis = 0;               ///< of the edge
    std::array<std::size_t, 3> from{};  ///< first end of the edge on the cell's lattice
    unsigned faces = 0;  ///< bits of the cell's faces on which it lies: low x, high x, low y, ...
    vector3 at{};        ///< in the unit cube
  };
  std::vector<vertex> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

/// Removes vertices while the triangles stay within the tolerance of the surface, in the units of
/// `sides`, as far as sampling tells.
///
/// Where the surface meets a face, what is left depends only on the vertices in that face, so
/// neighbours agree to the bit, whatever else each of them removes [Ho05]. Vertices on the cell's
/// edges stay. Others are removed by edge collapses [Garland97], or move off the surface, so that
/// triangles lie on both sides of it.
///
/// Triangles in the face first fill the gap between its old polyline and the new one. The mesh is
/// then still a manifold, and the vertices of the old polyline lie inside. This needs that no edge
/// joins two vertices of a face, except those in the polyline, which is so for marching cubes
/// without diagonals in faces.
void simplify(surface_patch& patch, tricubic const& cell, vector3 const& sides, double value,
              double tolerance);

}  // namespace isosurface
