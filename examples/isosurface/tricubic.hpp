// Isosurfaces of order 3: C1, from tricubic cells.
#pragma once

#include "layer.hpp"
#include "piece_mesh.hpp"

namespace isosurface {

/// Each cell is the tricubic polynomial that has its nodes' data [Bajaj93, §2]. Cells whose
/// coefficients lie on one side of a value cannot meet it and are skipped. The others are halved
/// options.level times along each axis, and their parts are cut with marching cubes. Vertices lie
/// on the surface up to rounding; normals are opposite to its gradients there. Neighbours have
/// bitwise equal values on their common face, so there are no cracks, whichever rank computes them.
///
/// With options.tolerance, each cell then removes what it does not need of this mesh
/// (surface_patch.hpp).
///
/// A part without a change of sign at its corners that still straddles a value after two more
/// halvings is counted as unresolved. Holes and arguments are those of extract_trilinear, except
/// that no classes are needed.
[[nodiscard]] piece_mesh extract_tricubic(node_grid const& grid, surface_options const& options,
                                          layer_view const& layer, range rows);

}  // namespace isosurface
