// Pictures of balls match their geometry.
#include "catch.hpp"
#include "picture_scene.hpp"
#include "renderer.hpp"
#include "small_mesh.hpp"

using namespace isosurface;

namespace {

using raytrace::vec3d;

struct picture_of {
  picture_of(mesh const& m, picture_view const& v) : view(v) {
    raytrace::settings how;
    how.width = v.width;
    how.height = v.height;
    how.depth = 1;
    raytrace::renderer const r(picture_scene(m, v), how);
    rgb.resize(3 * static_cast<std::size_t>(v.width) * static_cast<std::size_t>(v.height));
    raytrace::ray_counts rays;
    r.render_tile(0, 0, v.width, v.height, rgb, rays);
  }
  [[nodiscard]] vec3d at(int x, int y) const {
    auto const i = 3 * static_cast<std::size_t>(y * view.width + x);
    return {rgb[i], rgb[i + 1], rgb[i + 2]};
  }
  [[nodiscard]] bool empty(int x, int y) const { return at(x, y) == vec3d{1, 1, 1}; }

  picture_view view;
  std::vector<float> rgb;
};

/// Identifies one of three colours by its ratios, independent of the light.
std::size_t colour_of(vec3d c) {
  if (c.x > c.y && c.y > 2 * c.z) return 0;  // orange
  if (c.z > c.y && c.y > c.x) return 1;      // sky blue
  if (c.y > c.z && c.z > c.x) return 2;      // green
  return 9;
}

}  // namespace

TEST_CASE("a ball fills exactly its circle of the picture") {
  picture_view view{200, 200, 25, 40, false};
  picture_of const picture(test::balls({3}, 40), view);
  // A box of side 6 has the diagonal 6 sqrt(3); the ball's radius is 0.5 / sqrt(3) of it. The eye is at
  // 0.52 / sin(15 degrees); the picture's first and last rows of pixels are 30 degrees apart.
  double const radius = 0.5 / std::sqrt(3.0), distance = 0.52 / std::sin(M_PI / 12);
  double const tangent = std::tan(std::asin(radius / distance)) / std::tan(M_PI / 12) * 99.5;  // pixels
  for (int y = 0; y < 200; ++y)
    for (int x = 0; x < 200; ++x) {
      double const away = std::hypot(x - 99.5, y - 99.5);
      if (away < tangent - 1.5) REQUIRE_FALSE(picture.empty(x, y));
      if (away > tangent + 1) REQUIRE(picture.empty(x, y));
    }
}

TEST_CASE("the octant next to the eye is open and shows nested balls") {
  auto const m = test::balls({3, 2, 1}, 40);
  picture_view view{201, 201, 45, 35.2643896827547, true};  // along the octant's diagonal
  picture_of const open(m, view);
  CHECK(colour_of(open.at(100, 100)) == 2);  // far side of the innermost ball
  CHECK(colour_of(open.at(10, 100)) == 9);   // background
  int seen[3]{};
  for (int y = 0; y < 201; ++y)
    for (int x = 0; x < 201; ++x)
      if (auto const c = colour_of(open.at(x, y)); c < 3) ++seen[c];
  for (int const n : seen) CHECK(n > 500);
  view.cut_open = false;
  picture_of const closed(m, view);
  for (int y = 0; y < 201; ++y)
    for (int x = 0; x < 201; ++x)
      if (!closed.empty(x, y) && closed.at(x, y).x > 0.05) REQUIRE(colour_of(closed.at(x, y)) == 0);
}

TEST_CASE("pictures of nothing, and from above") {
  picture_of const nothing(mesh{}, {7, 5, 0, 0, true});
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x) CHECK(nothing.empty(x, y));
  picture_of const above(test::balls({1}, 20), {21, 21, 0, 90, false});
  CHECK_FALSE(above.empty(10, 10));
}
