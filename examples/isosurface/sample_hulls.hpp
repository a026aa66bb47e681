// Bounds of tricubic cells, from samples alone.
#pragma once

#include <vector>

#include "control_net.hpp"
#include "layer.hpp"

namespace isosurface {

/// An interval around all coefficients of a cell: they are weighted sums of the samples around with weights
/// that add up to 1, so they exceed the samples' range at most by what the negative weights add up to.
/// Cheaper than the coefficients; where it has no value, they need not be computed.
class sample_hulls {
 public:
  sample_hulls(node_grid const& grid, layer_view const& layer);

  /// Hulls of the cells of one row.
  void find(std::size_t row);
  [[nodiscard]] hull of(std::size_t x) const;

 private:
  node_grid const& grid_;
  layer_view const& layer_;
  std::vector<double> amounts_x_;  // sums of the weights' amounts, of each cell
  double beyond_yz_ = 1;           // likewise along y and z
  std::vector<float> low_, high_;  // of all samples with the same x
};

}  // namespace isosurface
