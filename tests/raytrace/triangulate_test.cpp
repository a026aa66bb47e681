#include "triangulate.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "catch.hpp"
#include "spd.hpp"

using namespace raytrace;

namespace {

double area(std::vector<vec3d> const& corners, piece const& p) {
  vec3d sum;
  for (std::uint32_t i = 1; i + 1 < p.corners; ++i) {
    sum = sum +
          cross(corners[p.corner[i]] - corners[p.corner[0]], corners[p.corner[i + 1]] - corners[p.corner[0]]);
  }
  return 0.5 * length(sum);
}

struct totals {
  double area = 0;
  std::size_t triangles = 0;
  int outer = 0;
};

totals cut(std::vector<vec3d> const& corners, bool triangles_only) {
  totals t;
  for (auto const& p : triangulate(corners, normalized(newell_normal(corners)), triangles_only)) {
    t.area += area(corners, p);
    t.triangles += p.corners - 2;
    for (std::uint32_t e = 0; e < p.corners; ++e) t.outer += static_cast<int>(p.outer >> e & 1);
  }
  return t;
}

// The pieces cover the polygon exactly if their areas add up to its area, they are n - 2 triangles,
// and each edge of the polygon belongs to one piece.
void check(std::vector<vec3d> const& corners) {
  double const whole = 0.5 * length(newell_normal(corners));
  for (bool const triangles_only : {false, true}) {
    auto const t = cut(corners, triangles_only);
    CHECK(t.area == Approx(whole).epsilon(1e-9));
    CHECK(t.triangles == corners.size() - 2);
    CHECK(t.outer == static_cast<int>(corners.size()));
  }
}

}  // namespace

TEST_CASE("polygons, convex and concave, in any orientation") {
  check({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  check({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}});
  check({{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}});      // seen from below
  check({{0, 0, 0}, {2, 0, 0}, {0.5, 0.5, 0}, {0, 2, 0}});  // an arrow head
  check({{3, 0, 0}, {3, 2, 0}, {3, 0.5, 0.5}, {3, 0, 2}});  // the same standing
  check({{0, 0, 0}, {4, 0, 4}, {4, 4, 4}, {3, 4, 3}, {3, 1, 3}, {1, 1, 1}, {1, 4, 1}, {0, 4, 0}});  // a U,
                                                                                                    // tilted
}

TEST_CASE("a star") {
  std::vector<vec3d> star;
  for (int i = 0; i < 60; ++i) {
    double const a = i * std::numbers::pi / 30, r = i % 2 == 0 ? 1 : 0.4;
    star.push_back({r * std::cos(a), r * std::sin(a), 2 * r * std::cos(a)});
  }
  check(star);
}

TEST_CASE("faces of gears") {
  auto const s = make_gears(1);
  int faces = 0;
  for (auto const& p : s.polygons) {
    if (p.vertices != 144) continue;
    ++faces;
    check({s.vertices.begin() + p.first, s.vertices.begin() + p.first + p.vertices});
  }
  CHECK(faces == 2);
}

TEST_CASE("corners on a straight line are accepted") {
  std::vector<vec3d> const corners{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 2, 0}, {1, 2, 0}, {0, 2, 0}};
  CHECK(cut(corners, true).area == Approx(4));
}

TEST_CASE("a repeated corner changes nothing") {
  // an arrow head; its reflex corner could lead to a wrong ear
  std::vector<vec3d> const once{{0, 0, 0}, {2, 0, 0}, {0.5, 0.5, 0}, {0, 2, 0}};
  std::vector<vec3d> const repeated{once[0], once[0], once[1], once[2], once[2],
                                    once[2], once[3], once[3], once[0]};
  for (bool const triangles_only : {false, true}) {
    auto const expected = cut(once, triangles_only), t = cut(repeated, triangles_only);
    CHECK(t.area == Approx(expected.area));
    CHECK(t.triangles == expected.triangles);
  }
  CHECK(triangulate(std::vector<vec3d>(4, once[1]), {0, 0, 1}, false).empty());
}
