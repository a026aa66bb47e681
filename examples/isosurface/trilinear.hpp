// Isosurfaces of order 1: C0, with the field linear on each edge between two nodes.
#pragma once

#include "layer.hpp"
#include "piece_mesh.hpp"

namespace isosurface {

/// Marching cubes on the cells between nodes. Vertices lie where the field, linear on an edge, has
/// the value; a node with exactly the value counts as above. Normals are opposite to the gradient
/// interpolated from the two nodes (differences by the grid's rule). Cells that depend on a sample
/// that is not finite stay empty.
///
/// `rows` are the cells of one piece. The layer must contain the samples of sample_rows() of their
/// nodes, and the classes of these nodes.
[[nodiscard]] piece_mesh extract_trilinear(node_grid const& grid, std::vector<double> const& values,
                                           layer_view const& layer, range rows);

}  // namespace isosurface
