// Normals of vertices at which the field has no gradient.
#pragma once

#include "mesh.hpp"

namespace isosurface {

/// Replaces zero normals by the area-weighted normal of the surrounding triangles, or (0, 0, 1) if
/// they have no area.
void fill_flat_normals(mesh& m);

}  // namespace isosurface
