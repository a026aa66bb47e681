#include "camera.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace raytrace {

camera make_camera(view const& v, int width, int height) {
  auto const forward = normalized(v.at - v.from);
  auto const right = normalized(cross(forward, v.up));
  auto const down = cross(forward, right);
  int const steps = std::max(1, std::min(width, height) - 1);
  double const pixel = 2 * std::tan(v.angle * std::numbers::pi / 360) / steps;
  return {to_float(forward), to_float(pixel * right), to_float(pixel * down),
          0.5F * static_cast<float>(width - 1), 0.5F * static_cast<float>(height - 1)};
}

}  // namespace raytrace
