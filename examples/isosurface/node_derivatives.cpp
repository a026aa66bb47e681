#include "node_derivatives.hpp"

namespace isosurface {

node_data node_derivatives(node_grid const& grid, layer_view const& layer,
                           std::array<std::size_t, 3> const& node) {
  auto const &sx = grid.axis(0).slope[node[0]], &sy = grid.axis(1).slope[node[1]],
             &sz = grid.axis(2).slope[node[2]];
  auto const x = grid.axis(0).sample[node[0]], y = grid.axis(1).sample[node[1]],
             z = grid.axis(2).sample[node[2]];
  node_data all{};
  for (std::size_t k = 0; k < sz.count; ++k) {
    std::array<double, 4> in_slice{};  // f, f_x, f_y, f_xy
    float const* row = layer.samples(sz.first + k, sy.first);
    for (std::size_t j = 0; j < sy.count; ++j, row += grid.axis(0).samples) {
      auto const* const s = row + sx.first;
      double slope = sx.weights[0] * double{s[0]} + sx.weights[1] * double{s[1]};
      for (std::size_t i = 2; i < sx.count; ++i) slope += sx.weights[i] * double{s[i]};
      double const f = row[x];
      if (sy.first + j == y) in_slice[0] = f, in_slice[1] = slope;
      in_slice[2] += sy.weights[j] * f;
      in_slice[3] += sy.weights[j] * slope;
    }
    for (std::size_t d = 0; d < 4; ++d) {
      if (sz.first + k == z) all[d] = in_slice[d];
      all[4 + d] += sz.weights[k] * in_slice[d];
    }
  }
  return all;
}

}  // namespace isosurface
