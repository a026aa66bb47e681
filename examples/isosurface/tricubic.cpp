#include "tricubic.hpp"

#include <algorithm>

#include "cell_nodes.hpp"
#include "cell_surface.hpp"
#include "control_net.hpp"
#include "sample_hulls.hpp"

namespace skel::isosurface {

piece_mesh extract_tricubic(node_grid const& grid, surface_options const& options, layer_view const& layer,
                            range rows) {
  auto const& values = options.values;
  auto const any_value = [&](hull const& h) {
    return std::ranges::any_of(values, [&](double v) { return h.straddles(v); });
  };
  sample_hulls bounds(grid, layer);
  cell_nodes nodes(grid, layer);
  control_net net(options.level);
  cell_surface surface(grid, options, layer, rows);
  for (auto row = rows.first; row < rows.end; ++row) {
    bounds.find(row);
    for (std::size_t x = 0; x < grid.axis(0).cells(); ++x) {
      if (layer.has_holes() && layer.is_hole(layer.number(), row, x)) {
        ++surface.counts.holes;
        continue;
      }
      if (!any_value(bounds.of(x))) continue;
      auto const cell = hermite(nodes.corners(x, row), nodes.sides(x, row));
      auto const around = hull_of(cell).widened();
      if (!any_value(around)) continue;
      net.divide(cell);
      surface.begin_cell(net, x, row);
      for (std::size_t v = 0; v < values.size(); ++v)
        if (around.straddles(values[v])) surface.add(v);
    }
  }
  return surface.finish();
}

}  // namespace skel::isosurface
