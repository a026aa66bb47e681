#include "scene.hpp"

#include <cmath>

namespace raytrace {

namespace {

std::uint32_t number(std::size_t n) { return static_cast<std::uint32_t>(n); }

}  // namespace

std::string problem_of(view const& v) {
  for (auto const& p : {v.from, v.at, v.up})
    for (double const x : {p.x, p.y, p.z})
      if (!(std::abs(x) <= 1e15)) return "view needs numbers of at most 1e15";
  if (v.from == v.at) return "view needs different \"from\" and \"at\"";
  auto const side = cross(normalized(v.at - v.from), v.up);
  if (!(length(side) > 1e-9 * length(v.up))) return "view needs an \"up\" that is not the line of sight";
  if (!(v.angle > 0 && v.angle < 180)) return "view needs an angle between 0 and 180 degrees";
  return {};
}

void scene::add(sphere const& s) {
  primitives.push_back({shape::sphere, number(spheres.size()), number(materials.size() - 1)});
  spheres.push_back(s);
}

void scene::add(cone const& c) {
  primitives.push_back({shape::cone, number(cones.size()), number(materials.size() - 1)});
  cones.push_back(c);
}

void scene::add_polygon(std::vector<vec3d> const& corners, std::vector<vec3d> const& corner_normals) {
  primitives.push_back({shape::polygon, number(polygons.size()), number(materials.size() - 1)});
  polygons.push_back({number(vertices.size()), number(corners.size()),
                      corner_normals.empty() ? polygon::flat : number(normals.size())});
  vertices.insert(vertices.end(), corners.begin(), corners.end());
  normals.insert(normals.end(), corner_normals.begin(), corner_normals.end());
}

double default_intensity(std::size_t lights) {
  auto const n = static_cast<double>(lights);
  return lights == 0 ? 0 : std::sqrt(n) / (2 * n);
}

}  // namespace raytrace
