#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "spd.hpp"

namespace raytrace {

namespace {

constexpr int teeth = 36;
constexpr double edge = 0.1;           // depth of the teeth as a share of the radius
constexpr double outer_ratio = 0.995;  // meshing gears must not share a surface

struct gear {
  vec3d center;
  double angle;      // radians, angle of the first tooth
  double radius;     // nominal: outer is outer_ratio of it, inner 1 - edge
  double thickness;  // downwards from the centre
};

// 144 corners: four per tooth, two on the outer radius and two on the inner. `sense` -1 runs
// clockwise, so that the bottom face looks down.
std::vector<vec3d> outline(gear const& g, double sense, double height) {
  constexpr double pitch = 2 * std::numbers::pi / teeth;
  struct corner {
    double along, radius;
  };
  std::array<corner, 4> const tooth{
      {{-0.19, outer_ratio}, {0.19, outer_ratio}, {0.3, 1 - edge}, {0.7, 1 - edge}}};
  std::vector<vec3d> corners;
  for (int n = 0; n < teeth; ++n) {
    for (auto const& c : tooth) {
      double const a = g.angle + sense * (n + c.along) * pitch;
      double const r = c.radius * g.radius;
      corners.push_back(g.center + vec3d{r * std::cos(a), r * std::sin(a), height});
    }
  }
  return corners;
}

void add_gear(scene& world, gear const& g) {
  auto const top = outline(g, 1, 0);
  world.add_polygon(top);
  vec3d const down{0, 0, -g.thickness};
  for (std::size_t i = 0; i < top.size(); ++i) {
    auto const& next = top[(i + 1) % top.size()];
    world.add_polygon({top[i], top[i] + down, next + down, next});
  }
  world.add_polygon(outline(g, -1, -g.thickness));
}

double fraction(double x) { return x - std::floor(x); }

// SPD's pseudo-random colours, each scaled so that its largest component is 1.
vec3d gear_color(int ix, int iy, int iz) {
  vec3d const c{0.01 + fraction((ix * 3 + iy * 2 + iz + 1) * 5.0 / 7.0),
                0.01 + fraction((iy * 3 + iz * 2 + ix + 1) * 3.0 / 7.0),
                0.01 + fraction((iz * 3 + ix * 2 + iy + 1) * 2.0 / 7.0)};
  return (1 / std::max({c.x, c.y, c.z})) * c;
}

material gear_fill(int ix, int iy, int iz, gears_material kind) {
  auto const color = gear_color(ix, iy, iz);
  if ((ix * 4 + iy * 2 + iz) % 5 != 0) return {color, 1, 0, 100000, 0, 0};
  double const specular = kind == gears_material::published ? 0.2 : 0;
  return {color, 0.2, specular, 100000, 0.8, 1.1};
}

}  // namespace

scene make_gears(int size, gears_material kind) {
  scene world;
  world.name = "gears:" + std::to_string(size);
  world.background = {0.078, 0.361, 0.753};
  world.view = {{-1.1, -2.1, 2.6}, {0, 0, 0}, {0, 0, 1}, 45, 1, 512, 512};
  for (vec3d const p : {vec3d{2, 4, 4}, {-2, 4, 3}, {2, -2.5, 2.5}, {-1, -4, 2}, {-1.111, -2.121, 2.626}}) {
    world.lights.push_back({p, {}});
  }
  world.add_material({{1, 0.85, 0.7}, 0.3, 0.6, 3.0827, 0, 0});
  world.add_polygon({{2, 2, 0}, {-2, 2, 0}, {-2, -2, 0}, {2, -2, 0}});

  double const n = size;
  double const radius = 1 / (n - (n - 1) * edge / 2);
  double const step = radius * (2 - edge);
  double const first = -1 + radius;
  for (int iz = 0; iz < size; ++iz) {
    for (int iy = 0; iy < size; ++iy) {
      for (int ix = 0; ix < size; ++ix) {
        world.add_material(gear_fill(ix, iy, iz, kind));
        add_gear(world, {{first + ix * step, first + iy * step, 1 - iz / n},
                         std::numbers::pi * ((ix + iy + iz) % 2) / teeth,
                         radius,
                         std::min(0.1, 1 / (2 * n))});
      }
    }
  }
  return world;
}

}  // namespace raytrace
