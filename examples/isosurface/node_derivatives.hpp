// Computes the eight data of a node from the surrounding samples.
#pragma once

#include <array>

#include "cell.hpp"
#include "layer.hpp"

namespace isosurface {

/// Tensor products of the differences along each axis (node_axis::slope), from 27 samples, or 125
/// with differences of fourth order. The mixed derivatives printed in [Bajaj93, §2] use two samples
/// on a diagonal and are wrong: for f = xy around the node they give f_xy = 0. The result is not
/// finite if a sample is not.
[[nodiscard]] node_data node_derivatives(node_grid const& grid, layer_view const& layer,
                                         std::array<std::size_t, 3> const& node);

}  // namespace isosurface
