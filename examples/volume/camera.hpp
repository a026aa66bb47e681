// Rays through the centres of pixels, in stretched coordinates relative to the grid's lowest
// corner.
#pragma once

#include "specification.hpp"

namespace volume {

struct camera {
  int width = 0, height = 0;
  bool parallel = false;
  vec3 eye{};  ///< eye of the ray through the middle of the picture
  vec3 forward{}, right{},
      down{};  ///< forward: length 1; right, down: one pixel (in a perspective view, at distance 1)

  struct ray {
    vec3 from, direction;  ///< direction: length 1
  };
  [[nodiscard]] ray through(double x, double y) const;  ///< in pixels; the first centre is 0.5
  /// Sets x and y to the point's position in the picture, in pixels. Returns false if it is behind
  /// the eye.
  [[nodiscard]] bool project(vec3 const& point, double& x, double& y) const;
};

/// `low`: lowest corner of the grid; `sides`: its lengths, stretched; `turn`: degrees around `up`,
/// for turntables.
[[nodiscard]] camera make_camera(specification const& spec, vec3 const& low, vec3 const& sides, int width,
                                 int height, double turn = 0);

[[nodiscard]] inline double dot(vec3 const& a, vec3 const& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] inline vec3 cross(vec3 const& a, vec3 const& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
[[nodiscard]] inline vec3 add(vec3 const& a, double s, vec3 const& b) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}
[[nodiscard]] vec3 normalized(vec3 const& a);

}  // namespace volume
