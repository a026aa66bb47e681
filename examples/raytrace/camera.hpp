// Primary rays through the centres of pixels. Their origin, the eye, is that of all coordinates.
#pragma once

#include "intersect.hpp"

namespace raytrace {

/// NFF's angle extends from the centres of the first row's pixels to those of the last. Pixels are
/// always square; in an image that is not, the angle applies to the shorter side.
struct camera {
  vec3f forward, right, down;  ///< right, down: one pixel
  float middle_x = 0, middle_y = 0;

  [[nodiscard]] SKEL_RT_INLINE ray through(int x, int y) const {
    float const fx = static_cast<float>(x) - middle_x, fy = static_cast<float>(y) - middle_y;
    return {{0, 0, 0}, normalized(forward + fx * right + fy * down)};
  }
};

camera make_camera(view const& v, int width, int height);

}  // namespace raytrace
