// The shape of a surface in a cube, depending on which corners are above a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace isosurface {

/// An edge of a cube: along an axis, from the corner with these coordinates.
struct cube_edge {
  std::uint8_t axis;
  std::array<std::uint8_t, 3> from;
};

/// Edge 4 a + n: axis a, with the bits of n as coordinates on the other two axes, lower axis first.
constexpr std::array<cube_edge, 12> cube_edges = [] {
  std::array<cube_edge, 12> all{};
  for (std::uint8_t e = 0; e < 12; ++e) {
    auto& edge = all[e];
    edge.axis = e / 4;
    edge.from[edge.axis == 0 ? 1 : 0] = e & 1;
    edge.from[edge.axis == 2 ? 1 : 2] = (e >> 1) & 1;
  }
  return all;
}();

/// One of the 256 cases. Bit x + 2 y + 4 z of the case's number is set if that corner is above.
struct cube_case {
  std::uint16_t edges = 0;  ///< one bit per edge that the surface cuts
  std::uint8_t polygons = 0;
  std::uint8_t triangles = 0;
  std::array<std::uint8_t, 15> corners{};  ///< three edges per triangle, counter-clockwise seen from below
};

/// Marching cubes (Lorensen and Cline 1987) without ambiguity: if two diagonally opposite corners
/// of a face are above the value, the surface cuts each of them off. Neighbours therefore agree
/// about every face, and surfaces have no cracks. Polygons are divided by diagonals that do not lie
/// in a face, so no edge has more than two triangles.
[[nodiscard]] std::array<cube_case, 256> const& cube_cases();

}  // namespace isosurface
