#include <array>

#include "spd.hpp"

namespace raytrace {

namespace {

// Four corners of a cube that form a tetrahedron, in SPD's order.
constexpr std::array<vec3d, 4> corner_signs{{{-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}, {1, 1, 1}}};
constexpr std::array<std::array<std::size_t, 3>, 4> faces{{{0, 1, 2}, {3, 2, 1}, {2, 3, 0}, {1, 0, 3}}};

void pyramid(scene& world, int depth, vec3d center, double half) {
  if (depth > 1) {
    for (auto const& sign : corner_signs) pyramid(world, depth - 1, center + (half / 2) * sign, half / 2);
    return;
  }
  std::array<vec3d, 4> corners;
  for (std::size_t i = 0; i < 4; ++i) corners[i] = center + half * corner_signs[i];
  for (auto const& f : faces) world.add_polygon({corners[f[0]], corners[f[1]], corners[f[2]]});
}

}  // namespace

scene make_tetra(int size) {
  scene world;
  world.name = "tetra:" + std::to_string(size);
  world.background = {0.078, 0.361, 0.753};
  world.view = {{1.02285, -3.17715, -2.17451},
                {-0.004103, -0.004103, 0.216539},
                {-0.816497, -0.816497, 0.816497},
                45,
                1,
                512,
                512};
  world.lights.push_back({{2, -18, -5}, {}});
  world.add_material({{1, 0.2, 0.2}, 1, 0, 100000, 0, 0});
  pyramid(world, size, {0, 0, 0}, 1);
  return world;
}

}  // namespace raytrace
