// Known surfaces are closed and have the right genus, volume and area.
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "catch.hpp"
#include "sampled.hpp"
#include "tolerance.hpp"
#include "topology.hpp"

namespace {

using std::numbers::pi;

double ball(double x, double y, double z) { return 1 - std::sqrt(x * x + y * y + z * z); }  // above 0 inside
double torus(double x, double y, double z) {
  double const ring = std::sqrt(x * x + y * y) - 0.6;
  return 0.09 - ring * ring - z * z;
}
double gyroid(double x, double y, double z) {  // period 12
  double const s = pi / 6;
  return std::sin(s * x) * std::cos(s * y) + std::sin(s * y) * std::cos(s * z) +
         std::sin(s * z) * std::cos(s * x);
}

test::topology closed(test::mesh const& m) {
  auto t = test::look_at(m);
  CHECK(t.manifold);
  CHECK(t.boundary.empty());
  return t;
}

}  // namespace

TEST_CASE("a sphere has Euler characteristic 2, its volume and its area; a torus 0") {
  auto const [order, level, near] =
      GENERATE(std::tuple{1, 0, 6e-3}, std::tuple{3, 0, 6e-3}, std::tuple{3, 2, 5e-4});
  CAPTURE(order, level);
  auto const box = test::evenly({25, 27, 26}, -1, 1);
  auto const sphere = test::model(test::volume(box, ball), test::order(order, {0.4}, level));
  CHECK(closed(sphere.mesh).euler == 2);
  CHECK(test::measure(sphere.mesh).volume == Approx(4 * pi / 3 * 0.216).epsilon(2 * near));
  CHECK(test::measure(sphere.mesh).area == Approx(4 * pi * 0.36).epsilon(2 * near));
  CHECK(sphere.counts.unresolved == 0);
  auto const ring = test::model(test::volume(box, torus), test::order(order, {0.0}, level));
  CHECK(closed(ring.mesh).euler == 0);
  CHECK(test::measure(ring.mesh).volume == Approx(2 * pi * pi * 0.6 * 0.09).epsilon(4 * near));
  CHECK(test::measure(ring.mesh).area == Approx(4 * pi * pi * 0.6 * 0.3).epsilon(4 * near));
}

TEST_CASE("vertices and normals converge to the sphere's: second order when linear, third when cubic") {
  for (auto const& [order, least, normals] : {std::tuple{1, 3.0, 1.8}, std::tuple{3, 6.5, 3.0}}) {
    std::array<double, 2> distance{}, angle{};
    for (std::size_t i = 0; i < 2; ++i) {
      auto const n = (i + 1) * 16 + 1;
      auto const m =
          test::model(test::volume(test::evenly({n, n, n}, -1, 1), ball), test::order(order, {0.4})).mesh;
      for (std::size_t v = 0; v < m.positions.size(); ++v) {
        auto const& p = m.positions[v];
        double const r = std::hypot(p[0], p[1], p[2]);
        distance[i] = std::max(distance[i], std::abs(r - 0.6));
        for (std::size_t a = 0; a < 3; ++a)
          angle[i] = std::max(angle[i], std::abs(double{m.normals[v][a]} - p[a] / r));
      }
    }
    CAPTURE(order, distance[0], distance[1], angle[0], angle[1]);
    CHECK(distance[0] > least * distance[1]);
    CHECK(angle[0] > normals * angle[1]);
  }
}

TEST_CASE("a gyroid has Euler characteristic -8 per period, opposite faces glued together") {
  auto const order = GENERATE(1, 3);
  auto const m =
      test::model(test::volume(test::counted({13, 13, 13}), gyroid), test::order(order, {0.125})).mesh;
  auto const t = test::look_at(m);
  CHECK(t.manifold);
  std::map<std::array<long, 3>, std::uint32_t> places;
  std::vector<std::uint32_t> glued(m.positions.size());
  for (std::size_t v = 0; v < glued.size(); ++v) {
    std::array<long, 3> place{};
    for (std::size_t a = 0; a < 3; ++a) place[a] = std::lround(m.positions[v][a] * 1000) % 12000;
    glued[v] = places.try_emplace(place, static_cast<std::uint32_t>(places.size())).first->second;
  }
  std::map<test::directed, int> edges;
  for (auto const& f : m.triangles)
    for (std::size_t i = 0; i < 3; ++i) ++edges[std::minmax(glued[f[i]], glued[f[(i + 1) % 3]])];
  CHECK(std::ranges::all_of(edges, [](auto const& e) { return e.second == 2; }));
  CHECK(static_cast<long>(places.size()) - static_cast<long>(edges.size()) +
            static_cast<long>(m.triangles.size()) ==
        -8);
}

TEST_CASE("white noise at many values: no crack, no edge with more than two triangles") {
  auto const order = GENERATE(1, 3);
  auto const border = [](double x, double y, double z) {
    bool const outside = x < 0.5 || y < 0.5 || z < 0.5 || x > 8.5 || y > 7.5 || z > 9.5;
    return outside ? -5 : test::noise(x, y, z);  // so that all surfaces are closed
  };
  auto o = test::order(order, {0.1, 0.25, 0.5, 0.6, 0.75, 0.9});
  auto const m = test::model(test::volume(test::counted({10, 9, 11}), border), o);
  closed(m.mesh);
  CHECK(m.mesh.parts.size() == 6);
  for (auto const& p : m.mesh.parts) CHECK(p.end_triangle > p.first_triangle);
}

TEST_CASE("a node with exactly the value counts as above: surfaces stay closed, normals have length 1") {
  auto const order = GENERATE(1, 3);
  auto const steps = [](double x, double y, double z) {  // has plateaus at the value
    return std::max({std::abs(x - 4), std::abs(y - 4), std::abs(z - 4)}) < 2.5 ? 1.0 : 0.0;
  };
  for (double const value : {0.0, 0.5, 1.0}) {
    auto const m =
        test::model(test::volume(test::counted({9, 9, 9}), steps), test::order(order, {value})).mesh;
    closed(m);
    for (auto const& n : m.normals) CHECK(std::hypot(n[0], n[1], n[2]) == Approx(1));
    if (value == 0) CHECK((order == 3 || m.triangles.empty()));
  }
}

TEST_CASE("polygons are counted before division") {
  auto const m =
      test::model(test::volume(test::counted({2, 2, 2}), [](double x, double, double) { return x; }),
                  test::order(1, {0.5}));
  CHECK(m.counts.polygons == 1);
  CHECK(m.mesh.triangles.size() == 2);
}

TEST_CASE(
    "the level for a tolerance: triangles stay within it, and cells are not divided much further than "
    "needed") {
  auto const f = [](double x, double y, double z) { return x * x + y * y + z * z; };  // reproduced exactly
  auto const open = test::volume(test::evenly({9, 9, 9}, -1, 1), f);
  auto o = test::order(3, {0.36});
  skel::context ctx;
  for (double const tolerance : {0.1, 0.01, 0.001}) {
    o.level = test::iso::level_for(ctx, open, o, tolerance).level;
    auto const m = test::model(open, o).mesh;
    double off = 0;
    for (auto const& t : m.triangles)
      for (std::size_t i = 0; i < 3; ++i) {
        auto const &a = m.positions[t[i]], &b = m.positions[t[(i + 1) % 3]];
        off = std::max(off, std::abs(0.6 - std::hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2]) / 2));
      }
    CAPTURE(tolerance, o.level, off);
    CHECK(off <= tolerance);
    CHECK((o.level == 0 || off > tolerance / 64));
  }
}
