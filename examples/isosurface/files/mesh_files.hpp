// Meshes in files that other programs read.
#pragma once

#include <string>

#include "mesh.hpp"

namespace isosurface {

/// Wavefront OBJ: text, an object for each value ("isosurface_300"), positions and normals of the shortest
/// form that is read back as the same float.
void write_obj(std::string const& path, mesh const& surfaces);

/// VTK XML PolyData, arrays appended as raw bytes in the machine's order: positions and "Normals" as float32,
/// "isovalue" of each point as float64, triangles of 64-bit indices.
void write_vtp(std::string const& path, mesh const& surfaces);

// Both: skel::error `path: reason` if it cannot be written; the file appears under its name when it is whole.

}  // namespace isosurface
