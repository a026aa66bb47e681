// Bounds of tricubic cells, computed from samples alone.
#pragma once

#include <vector>

#include "control_net.hpp"
#include "layer.hpp"

namespace isosurface {

/// An interval around all coefficients of a cell. Coefficients are weighted sums of the surrounding
/// samples with weights that add up to 1, so they exceed the range of the samples by at most the
/// sum of the negative weights. This is cheaper than the coefficients, which need not be computed
/// if the interval contains no value.
class sample_hulls {
 public:
  sample_hulls(node_grid const& grid, layer_view const& layer);

  /// Computes the hulls of the cells of one row.
  void find(std::size_t row);
  [[nodiscard]] hull of(std::size_t x) const;

 private:
  node_grid const& grid_;
  layer_view const& layer_;
  std::vector<double> amounts_x_;  // sums of absolute weights, per cell
  double beyond_yz_ = 1;           // the same along y and z
  std::vector<float> low_, high_;  // over all samples with the same x
};

}  // namespace isosurface
