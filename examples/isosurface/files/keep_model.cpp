#include "keep_model.hpp"

#include "model_file.hpp"
#include "node_derivatives.hpp"

namespace isosurface {

namespace {

/// Adds the data of one slice of nodes, which must be one of the layer's two.
void add_slice(model_writer& writer, node_grid const& grid, layer_view const& layer, std::size_t slice,
               int order, std::vector<double>& data) {
  data.clear();
  for (std::size_t y = 0; y < grid.axis(1).at.size(); ++y)
    for (std::size_t x = 0; x < grid.axis(0).at.size(); ++x) {
      if (order == 1) {
        data.push_back(
            layer.samples(grid.axis(2).sample[slice], grid.axis(1).sample[y])[grid.axis(0).sample[x]]);
      } else {
        auto const all = node_derivatives(grid, layer, {x, y, slice});
        data.insert(data.end(), all.begin(), all.end());
      }
    }
  writer.add(data);
}

}  // namespace

void keep_model(std::string const& path, open_function const& open, surface_options const& options) {
  node_grid const grid(open()->header(), options);
  modeler const job(grid, options, open);
  model_writer writer(path, {options.order, {grid.axis(0).at, grid.axis(1).at, grid.axis(2).at}});
  modeler::carried carried;
  std::vector<double> data;
  for (std::size_t layer = 0; layer < grid.layers(); ++layer) {
    modeler::unit unit;
    job.read(layer, carried, unit);
    layer_view const view(grid, unit);
    add_slice(writer, grid, view, layer, options.order, data);
    if (layer + 1 == grid.layers()) add_slice(writer, grid, view, layer + 1, options.order, data);
  }
  writer.commit();
}

}  // namespace isosurface
