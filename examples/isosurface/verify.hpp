// --verify: compares a mesh with the volume by independent means.
#pragma once

#include "grid.hpp"
#include "mesh.hpp"
#include "model_surfaces.hpp"

namespace isosurface {

/// Reads the whole volume and checks every vertex: the field, interpolated independently, must have
/// the value there within the precision of the coordinates, and (order 3) the normal must be
/// opposite to its gradient. Every edge must have two triangles in opposite directions, or lie in
/// the box or at a hole. Order 1, without holes: each edge between two nodes that the value
/// separates must have a vertex. Throws program::verification_error `verification failed: ...`.
void verify(volume_data::grid const& volume, surface_options const& options, modeled const& result);

}  // namespace isosurface
