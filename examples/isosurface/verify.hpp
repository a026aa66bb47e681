// --verify: a mesh against the volume, by other means.
#pragma once

#include "grid.hpp"
#include "mesh.hpp"
#include "model_surfaces.hpp"

namespace isosurface {

/// Reads the whole volume and looks at every vertex: whether the field, interpolated anew, has the value
/// there to the precision of the vertices' coordinates, and (order 3) the normal against its gradient. Every
/// edge has two triangles, in opposite directions, or lies in the box or at a hole. Order 1, without holes:
/// each edge between two nodes that the value lies between has a vertex. program::verification_error
/// `verification failed: ...`.
void verify(volume_data::grid const& volume, surface_options const& options, modeled const& result);

}  // namespace isosurface
