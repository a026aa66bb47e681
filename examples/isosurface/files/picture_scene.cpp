#include "picture_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isosurface {

namespace {

using raytrace::vec3d;

/// Distinguishable by colour-blind readers: M. Okabe and K. Ito, "Color Universal Design".
constexpr std::array<vec3d, 7> colours{{{0.90, 0.62, 0.00},
                                        {0.34, 0.71, 0.91},
                                        {0.00, 0.62, 0.45},
                                        {0.94, 0.89, 0.26},
                                        {0.80, 0.47, 0.65},
                                        {0.84, 0.37, 0.00},
                                        {0.00, 0.45, 0.70}}};

struct box {
  vec3d low{-0.5, -0.5, -0.5}, high{0.5, 0.5, 0.5};
  [[nodiscard]] vec3d middle() const { return 0.5 * (low + high); }
  [[nodiscard]] double diagonal() const { return length(high - low); }
};

vec3d to_vector(point const& p) { return {p[0], p[1], p[2]}; }

box bounds_of(mesh const& surfaces) {
  box b;
  if (surfaces.positions.empty()) return b;
  b.low = b.high = to_vector(surfaces.positions[0]);
  for (auto const& p : surfaces.positions) {
    auto const v = to_vector(p);
    b.low = {std::min(b.low.x, v.x), std::min(b.low.y, v.y), std::min(b.low.z, v.z)};
    b.high = {std::max(b.high.x, v.x), std::max(b.high.y, v.y), std::max(b.high.z, v.z)};
  }
  return b;
}

vec3d towards(double azimuth, double elevation) {
  double const a = azimuth * std::numbers::pi / 180, e = elevation * std::numbers::pi / 180;
  return {std::cos(e) * std::cos(a), std::cos(e) * std::sin(a), std::sin(e)};
}

/// Whether the point lies in the octant of the box next to the eye.
bool in_front(vec3d const& p, vec3d const& eye) {
  return p.x * eye.x > 0 && p.y * eye.y > 0 && p.z * eye.z > 0;
}

}  // namespace

raytrace::scene picture_scene(mesh const& surfaces, picture_view const& view) {
  auto const bounds = bounds_of(surfaces);
  auto const middle = bounds.middle();
  double const scale = bounds.diagonal() > 0 ? 1 / bounds.diagonal() : 1;
  auto const eye = towards(view.azimuth, view.elevation);

  raytrace::scene world;
  world.background = {1, 1, 1};
  constexpr double angle = 30;
  double const distance = 0.52 / std::sin(angle / 2 * std::numbers::pi / 180);  // the ball around the box
  world.view = {distance * eye, {0, 0, 0}, {0, 0, 1}, angle, 0, view.width, view.height};
  if (std::abs(view.elevation) > 89) world.view.up = {0, 1, 0};
  world.lights.push_back(
      {distance * towards(view.azimuth - 40, view.elevation + 25), vec3d{0.75, 0.75, 0.75}});
  world.lights.push_back({distance * eye, vec3d{0.7, 0.7, 0.7}});

  std::vector<vec3d> corners(3), normals(3);
  for (std::size_t part = 0; part < surfaces.parts.size(); ++part) {
    world.add_material({colours[part % colours.size()], 1, 0, 0, 0, 1});
    for (auto t = surfaces.parts[part].first_triangle; t < surfaces.parts[part].end_triangle; ++t) {
      for (std::size_t i = 0; i < 3; ++i) {
        auto const vertex = surfaces.triangles[t][i];
        corners[i] = scale * (to_vector(surfaces.positions[vertex]) - middle);
        normals[i] = to_vector(surfaces.normals[vertex]);
      }
      if (view.cut_open && in_front(corners[0] + corners[1] + corners[2], eye)) continue;
      world.add_polygon(corners, normals);
    }
  }
  return world;
}

}  // namespace isosurface
