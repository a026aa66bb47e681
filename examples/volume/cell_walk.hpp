// Walks a ray through a rectilinear grid, cell by cell, with the exact distances at which it enters
// and leaves each cell, in double precision [Storm95, §2.3]. Used by the paper's rule, one ray at a
// time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "camera.hpp"

namespace volume {

using planes = std::array<std::vector<double>, 3>;

struct cell_visit {
  std::array<std::size_t, 3> cell;  ///< between planes cell[d] and cell[d] + 1
  double enters, leaves;            ///< distances along the ray, enters < leaves
};

/// Calls visit(cell_visit) for each cell on the ray, in order, until it returns false. Distances
/// are contiguous: each cell is left where the next is entered. For rays along axes, in faces,
/// along edges and through corners, one of the touching cells is visited: the upper one for an axis
/// along which the ray does not move (the last cell on the grid's upper face).
template <class F>
void walk_cells(planes const& grid, camera::ray const& ray, double least, F&& visit) {
  double near = least;
  double far = std::numeric_limits<double>::max();
  for (std::size_t d = 0; d < 3; ++d) {
    double const low = grid[d].front(), high = grid[d].back(), from = ray.from[d], way = ray.direction[d];
    if (way == 0) {
      if (from < low || from > high) return;
      continue;
    }
    double const a = (low - from) / way, b = (high - from) / way;
    near = std::max(near, std::min(a, b));
    far = std::min(far, std::max(a, b));
  }
  if (!(near < far)) return;

  cell_visit v{{}, near, near};
  std::array<double, 3> next{};
  auto const leaves = [&](std::size_t d) {
    if (ray.direction[d] == 0) return std::numeric_limits<double>::infinity();
    return (grid[d][v.cell[d] + (ray.direction[d] > 0 ? 1 : 0)] - ray.from[d]) / ray.direction[d];
  };
  for (std::size_t d = 0; d < 3; ++d) {
    double const at = ray.from[d] + near * ray.direction[d];
    auto const above = std::ranges::upper_bound(grid[d], at) - grid[d].begin();
    v.cell[d] = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(grid[d]) - 2));
    next[d] = leaves(d);
  }
  for (;;) {
    auto const d = static_cast<std::size_t>(std::ranges::min_element(next) - next.begin());
    bool const last = next[d] >= far || v.cell[d] + (ray.direction[d] > 0 ? 1U : 0U) ==
                                            (ray.direction[d] > 0 ? grid[d].size() - 1 : 0U);
    v.leaves = last ? far : std::max(next[d], v.enters);
    if (v.enters < v.leaves && !visit(static_cast<cell_visit const&>(v))) return;
    if (last) return;
    v.enters = v.leaves;
    v.cell[d] += ray.direction[d] > 0 ? 1 : std::size_t(-1);
    next[d] = leaves(d);
  }
}

}  // namespace volume
