// Isosurfaces of order 3: C1, of tricubic cells.
#pragma once

#include "layer.hpp"
#include "piece_mesh.hpp"

namespace isosurface {

/// Each cell is the tricubic polynomial that has its nodes' data [Bajaj93, §2]. Cells whose
/// coefficients lie on one side of a value cannot meet it and are passed over; the others are halved
/// options.level times along each axis, and their parts cut as marching cubes do. Vertices lie on the
/// surface, to rounding; normals are the polynomial's gradients there. Neighbours have the same values, to
/// the bit, on the face between them, so there are no cracks, whichever rank computes them.
///
/// A part without a change of sign at its corners, which still straddles a value after two more halvings, is
/// counted as unresolved. Holes and arguments: as extract_trilinear has them, but that no classes are needed.
[[nodiscard]] piece_mesh extract_tricubic(node_grid const& grid, surface_options const& options,
                                          layer_view const& layer, range rows);

}  // namespace isosurface
