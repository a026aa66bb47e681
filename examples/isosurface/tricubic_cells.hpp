// The tricubic cells of some rows of a layer through which a value may pass.
#pragma once

#include <algorithm>

#include "cell_nodes.hpp"
#include "control_net.hpp"
#include "sample_hulls.hpp"

namespace isosurface {

/// Calls f(cell, hull, sides, x, row) for each, in order of row and x; the hull is widened by
/// rounding errors. Returns the number of holes, which are skipped.
template <class F>
std::uint64_t each_active_cell(node_grid const& grid, std::vector<double> const& values,
                               layer_view const& layer, range rows, F&& f) {
  auto const any_value = [&](hull const& h) {
    return std::ranges::any_of(values, [&](double v) { return h.straddles(v); });
  };
  std::uint64_t holes = 0;
  sample_hulls bounds(grid, layer);
  cell_nodes nodes(grid, layer);
  for (auto row = rows.first; row < rows.end; ++row) {
    bounds.find(row);
    for (std::size_t x = 0; x < grid.axis(0).cells(); ++x) {
      if (layer.has_holes() && layer.is_hole(layer.number(), row, x)) {
        ++holes;
        continue;
      }
      if (!any_value(bounds.of(x))) continue;
      auto const sides = nodes.sides(x, row);
      auto const cell = hermite(nodes.corners(x, row), sides);
      auto const around = hull_of(cell).widened();
      if (any_value(around)) f(cell, around, sides, x, row);
    }
  }
  return holes;
}

}  // namespace isosurface
