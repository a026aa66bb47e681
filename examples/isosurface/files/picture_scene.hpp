// Converts a mesh to a scene of the ray tracer.
#pragma once

#include "mesh.hpp"
#include "scene.hpp"

namespace isosurface {

struct picture_view {
  int width = 512, height = 512;  ///< pixels, 1 to 65,536
  double azimuth = -60;           ///< degrees of the eye from the x axis towards y, z being up
  double elevation = 30;          ///< degrees above the xy plane
  bool cut_open = true;           ///< removes the octant next to the eye, which shows nested surfaces
};

/// The whole mesh in view, scaled to length 1: a colour per value, one light beside the eye and a
/// weaker one at the eye.
[[nodiscard]] raytrace::scene picture_scene(mesh const& surfaces, picture_view const& view);

}  // namespace isosurface
