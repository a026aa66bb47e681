// Values at the points of a rectilinear grid in memory, the input of make_mesh() and render_grid().
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

/// Volumes in memory.
namespace volume_data {

/// One value per grid point; must outlive the call. Values that are not finite are missing.
struct grid_values {
  std::span<float const> values;      ///< x fastest; size[0] * size[1] * size[2] of them
  std::array<std::size_t, 3> size{};  ///< grid points along x, y, z; at least 2 each
  /// Coordinates of the points along each axis, finite and increasing. Empty: 0, 1, 2, ...
  std::array<std::vector<double>, 3> coordinates{};
};

}  // namespace volume_data
