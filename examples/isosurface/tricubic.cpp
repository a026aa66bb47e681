#include "tricubic.hpp"

#include "cell_surface.hpp"
#include "tricubic_cells.hpp"

namespace isosurface {

piece_mesh extract_tricubic(node_grid const& grid, surface_options const& options, layer_view const& layer,
                            range rows) {
  control_net net(options.level);
  cell_surface surface(grid, options, layer, rows);
  surface.counts.holes = each_active_cell(
      grid, options.values, layer, rows,
      [&](tricubic const& cell, hull const& around, vector3 const&, std::size_t x, std::size_t row) {
        net.divide(cell);
        surface.begin_cell(cell, net, x, row);
        for (std::size_t v = 0; v < options.values.size(); ++v)
          if (around.straddles(options.values[v])) surface.add(v);
      });
  return surface.finish();
}

}  // namespace isosurface
