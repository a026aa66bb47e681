// Writes meshes in the formats of other programs.
#pragma once

#include <string>

#include "mesh.hpp"

namespace isosurface {

/// Wavefront OBJ: text, with one object per value ("isosurface_300"). Positions and normals have
/// the shortest form that reads back as the same float.
void write_obj(std::string const& path, mesh const& surfaces);

/// VTK XML PolyData with arrays appended as raw bytes in the machine's byte order: positions and
/// "Normals" as float32, "isovalue" of each point as float64, triangles with 64-bit indices. An XML
/// comment may not contain "--".
void write_vtp(std::string const& path, mesh const& surfaces, std::string const& comment = {});

// Both throw skel::error `path: reason` if the file cannot be written; it appears under its name
// when it is complete.

}  // namespace isosurface
