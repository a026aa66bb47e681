// Normals where a field has no gradient.
#pragma once

#include "mesh.hpp"

namespace isosurface {

/// Gives the vertices whose normal is zero that of the triangles around them, by area; (0, 0, 1) where they
/// have no area either.
void fill_flat_normals(mesh& m);

}  // namespace isosurface
