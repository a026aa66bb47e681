// A mesh as a scene of the ray tracer.
#pragma once

#include "mesh.hpp"
#include "scene.hpp"

namespace isosurface {

struct picture_view {
  int width = 512, height = 512;  ///< pixels, 1 to 65,536
  double azimuth = -60;           ///< degrees of the eye from the x axis towards y, z being up
  double elevation = 30;          ///< degrees above the xy plane
  bool cut_open = true;  ///< without the octant next to the eye, so that surfaces inside of others are seen
};

/// All of the mesh in view, scaled to a length of 1: a colour for each value, one light from the side of the
/// eye and a weaker one from the eye itself.
[[nodiscard]] raytrace::scene picture_scene(mesh const& surfaces, picture_view const& view);

}  // namespace isosurface
