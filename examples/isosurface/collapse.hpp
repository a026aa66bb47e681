// Removes vertices inside a patch by edge collapses.
#pragma once

#include "surface_patch.hpp"

namespace isosurface {

/// Collapses edges in order of their quadrics' errors [Garland97], and then moves the vertices that
/// are left so that the squared distances to the surface become least. Vertices on faces stay. A
/// collapse is rejected if it changes the topology [Dey99], turns a triangle over, joins two
/// vertices of a face by an edge that the neighbour may have too, or makes a triangle whose samples
/// are farther from the surface than the tolerance and than before.
void collapse_edges(surface_patch& patch, tricubic const& cell, vector3 const& sides, double value,
                    double tolerance);

}  // namespace isosurface
