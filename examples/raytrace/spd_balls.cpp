#include <array>
#include <numbers>

#include "spd.hpp"

namespace raytrace {

namespace {

constexpr double child_ratio = 1.0 / 3;
using directions = std::array<vec3d, 9>;

vec3d rotated(vec3d v, vec3d axis, double cosine, double sine) {  // Rodrigues
  return cosine * v + sine * cross(axis, v) + ((1 - cosine) * dot(axis, v)) * axis;
}

// Three tilted children around the equator's diagonal, and the same at 120 and 240 degrees.
directions around_z() {
  double const d = 1 / std::numbers::sqrt2;
  std::array<vec3d, 3> const trio{{{d, d, 0}, {d, 0, -d}, {0, d, -d}}};
  vec3d const tilt_axis{d, -d, 0};
  double const sine = 2 / std::sqrt(6.0);
  directions all;
  for (std::size_t set = 0; set < 3; ++set) {
    double const turn = static_cast<double>(set) * 2 * std::numbers::pi / 3;
    for (std::size_t i = 0; i < 3; ++i) {
      auto const tilted = rotated(trio[i], tilt_axis, std::sqrt(1 - sine * sine), sine);
      all[set * 3 + i] = rotated(tilted, {0, 0, 1}, std::cos(turn), std::sin(turn));
    }
  }
  return all;
}

class flake {
 public:
  explicit flake(scene& world) : world_(world) {}

  // Adds a sphere and, recursively, its nine children at the points where they touch it.
  void grow(int depth, vec3d center, double radius, vec3d direction) {
    world_.add(sphere{center, radius});
    if (depth == 0) return;
    for (auto const& d : children_) {
      auto const child = turned(d, direction);
      grow(depth - 1, center + (radius * (1 + child_ratio)) * child, radius * child_ratio, child);
    }
  }

 private:
  // Applies the rotation that maps +z to `direction`.
  static vec3d turned(vec3d v, vec3d direction) {
    if (direction.z >= 1) return v;
    if (direction.z <= -1) return {-v.x, v.y, -v.z};
    auto const axis = normalized(cross(vec3d{0, 0, 1}, direction));
    return rotated(v, axis, direction.z, std::sqrt(1 - direction.z * direction.z));
  }

  scene& world_;
  directions children_ = around_z();
};

}  // namespace

scene make_balls(int size) {
  scene world;
  world.name = "balls:" + std::to_string(size);
  world.background = {0.078, 0.361, 0.753};
  world.view = {{2.1, 1.3, 1.7}, {0, 0, 0}, {0, 0, 1}, 45, 0.01, 512, 512};
  for (vec3d const p : {vec3d{4, 3, 2}, {1, -4, 4}, {-3, 1, 5}}) world.lights.push_back({p, {}});
  world.add_material({{1, 0.75, 0.33}, 0.8, 0, 100000, 0, 1});
  world.add_polygon({{12, 12, -0.5}, {-12, 12, -0.5}, {-12, -12, -0.5}, {12, -12, -0.5}});
  world.add_material({{1, 0.9, 0.7}, 0.5, 0.5, 3.0827, 0, 1});
  flake(world).grow(size, {0, 0, 0}, 0.5, {0, 0, 1});
  return world;
}

}  // namespace raytrace
