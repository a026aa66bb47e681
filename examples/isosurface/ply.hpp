// Writes meshes as PLY, for ParaView, MeshLab and Blender.
#pragma once

#include <string>

#include "mesh.hpp"

namespace isosurface {

/// Binary, little endian: x, y, z, nx, ny, nz and value of each vertex, then the triangles. Throws
/// error `path: reason`.
void write_ply(std::string const& path, mesh const& m);

}  // namespace isosurface
