// Rays through the pixels' centres, in coordinates of the stretched grid counted from its lowest corner.
#pragma once

#include "specification.hpp"

namespace volume {

struct camera {
  int width = 0, height = 0;
  bool parallel = false;
  vec3 eye{};  ///< of the middle of the picture
  vec3 forward{}, right{},
      down{};  ///< forward: length 1; right, down: one pixel (at distance 1 if perspective)

  struct ray {
    vec3 from, direction;  ///< direction: length 1
  };
  [[nodiscard]] ray through(double x, double y) const;  ///< in pixels; 0.5 is the first one's centre
  /// Sets x and y to the point's position in the picture, in pixels. Returns false if it is behind
  /// the eye.
  [[nodiscard]] bool project(vec3 const& point, double& x, double& y) const;
};

/// `low`: the grid's lowest corner, `sides`: its lengths, stretched; `turn`: degrees round `up`, for
/// turntables.
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
