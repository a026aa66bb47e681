#include "model_surfaces.hpp"

#include "mesh_builder.hpp"

namespace isosurface {

modeled model_surfaces(skel::context& ctx, open_function const& open, surface_options const& options,
                       skel::multi_host_options how) {
  how.results = skel::multi_host_options::unit_results::as_they_come;  // the builder does not need an order
  // Measured on two ranks, with a layer's mesh received every other time
  // (docs/measurements/isosurface.md). At order 3 it is 0.02, less than a layer of a share.
  how.sink_cost = options.order == 1 ? 0.1 : 0;
  node_grid const grid(open()->header(), options);
  edge_lattice const lattice(grid, options.edges_per_cell());
  modeler const job(grid, options, open);
  mesh_builder builder(grid, lattice, options.values);
  modeled all;
  all.run = multi_host(
                ctx, grid.layers(), job,
                [&](std::uint64_t layer, std::uint64_t piece, piece_mesh&& m) {
                  builder.add(layer, piece, std::move(m));
                },
                how)
                .report;
  all.counts = builder.counts();
  if (ctx.is_root()) all.surfaces = builder.finish();
  return all;
}

}  // namespace isosurface
