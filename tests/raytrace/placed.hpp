// A scene at another place and of another size.
#pragma once

#include "scene.hpp"

namespace raytrace {

/// The scene scaled about the origin, then moved.
inline scene placed(scene s, double scale, vec3d away) {
  auto const place = [&](vec3d& p) { p = scale * p + away; };
  place(s.view.from);
  place(s.view.at);
  for (auto& l : s.lights) place(l.position);
  for (auto& v : s.vertices) place(v);
  for (auto& b : s.spheres) {
    place(b.center);
    b.radius *= scale;
  }
  for (auto& c : s.cones) {
    place(c.base);
    place(c.apex);
    c.base_radius *= scale;
    c.apex_radius *= scale;
  }
  return s;
}

}  // namespace raytrace
