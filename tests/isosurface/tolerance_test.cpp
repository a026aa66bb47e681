// Meshes whose vertices are removed within a tolerance: closed, near the surface, and with fewer triangles.
#include <random>

#include "catch.hpp"
#include "face_outline.hpp"
#include "sampled.hpp"
#include "topology.hpp"

namespace {

test::iso::surface_options within(double tolerance, std::vector<double> values, int level) {
  auto o = test::order(3, std::move(values), level);
  o.tolerance = tolerance;
  return o;
}

double enclosed_noise(double x, double y, double z) {
  bool const outside = x < 0.5 || y < 0.5 || z < 0.5 || x > 5.5 || y > 4.5 || z > 6.5;
  return outside ? -5 : test::noise(x, y, z);  // so that all surfaces are closed
}

/// Has plateaus at 0 and 1, so that vertices coincide.
double steps(double x, double y, double z) {
  return std::max({std::abs(x - 4), std::abs(y - 4), std::abs(z - 4)}) < 2.5 ? 1.0 : 0.0;
}

/// Spheres about a node, which meet only edges of cells at that node, only a face, or neither.
struct small_ball {
  double x, y, z, r;
  double operator()(double a, double b, double c) const {
    return r * r - (a - x) * (a - x) - (b - y) * (b - y) - (c - z) * (c - z);
  }
};

/// The greatest and the mean square distance of the triangles of a sphere, by dense sampling.
std::array<double, 2> distances(test::mesh const& m, double radius) {
  double most = 0, squares = 0, areas = 0;
  for (auto const& t : m.triangles) {
    auto const &a = m.positions[t[0]], &b = m.positions[t[1]], &c = m.positions[t[2]];
    std::array<double, 3> u{}, v{};
    for (std::size_t i = 0; i < 3; ++i) u[i] = double{b[i]} - a[i], v[i] = double{c[i]} - a[i];
    double const area =
        std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    constexpr int n = 8;
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j) {
        auto const at = [&](std::size_t k) { return a[k] + (i * u[k] + j * v[k]) / n; };
        double const off = std::abs(radius - std::hypot(at(0), at(1), at(2)));
        most = std::max(most, off);
        squares += area * off * off;
        areas += area;
      }
  }
  return {most, squares / areas};
}

}  // namespace

TEST_CASE("white noise: for every tolerance no crack and no edge with more than two triangles") {
  auto const tolerance = GENERATE(1e-9, 0.003, 0.03, 0.3, 1e9);
  auto const level = GENERATE(0, 1, 3);
  auto const open = test::volume(test::counted({7, 6, 8}), enclosed_noise);
  std::vector<double> const values{0.1, 0.5, 0.9};
  auto const fine = test::model(open, test::order(3, values, level)).mesh;
  auto const m = test::model(open, within(tolerance, values, level)).mesh;
  CAPTURE(tolerance, level, fine.triangles.size(), m.triangles.size());
  auto const t = test::look_at(m);
  CHECK(t.manifold);
  CHECK(t.boundary.empty());
  CHECK(t.euler == test::look_at(fine).euler);
  CHECK(m.triangles.size() <= fine.triangles.size() * (level > 0 || tolerance < 1e-3 ? 1 : 2));
  if (level == 3) CHECK((tolerance < 0.1 || 4 * m.triangles.size() < fine.triangles.size()));
}

TEST_CASE(
    "surfaces that meet one edge, one face or no face of a cell stay, and coinciding vertices do no harm") {
  auto const f =
      GENERATE(test::formula(small_ball{4.3, 4, 4, 0.2}), test::formula(small_ball{4.3, 4.4, 4, 0.2}),
               test::formula(small_ball{4.4, 4.5, 4.6, 0.3}), test::formula(small_ball{4, 4, 4, 0.2}),
               test::formula(steps));
  auto const tolerance = GENERATE(0.001, 0.1, 100.0);
  auto const open = test::volume(test::counted({9, 9, 9}), f);
  auto const fine = test::model(open, test::order(3, {0.0}, 3)).mesh;
  auto const m = test::model(open, within(tolerance, {0.0}, 3)).mesh;
  REQUIRE(!m.triangles.empty());
  CHECK(m.triangles.size() <= fine.triangles.size());
  auto const t = test::look_at(m);
  CHECK(t.manifold);
  CHECK(t.boundary.empty());
  CHECK(t.euler == test::look_at(fine).euler);
}

TEST_CASE("one cell: the border stays on the box") {
  auto const at = test::counted({2, 2, 2});
  auto const plane = [](double x, double y, double z) { return x + 2 * y + 3 * z; };
  CHECK(test::model(test::volume(at, plane), within(0.01, {0.8}, 4)).mesh.triangles.size() == 1);
  auto const bent = [](double x, double y, double z) { return x * y + y * z + z * x; };
  auto const m = test::model(test::volume(at, bent), within(0.01, {0.5}, 4)).mesh;
  auto const t = test::look_at(m);
  CHECK(t.manifold);
  CHECK(t.euler == 1);
  CHECK(m.triangles.size() > 4);
  CHECK(m.triangles.size() < 100);
  for (auto const& [a, b] : t.boundary) {
    bool on_face = false;
    for (std::size_t i = 0; i < 3; ++i)
      for (float const side : {0.0F, 1.0F}) on_face |= m.positions[a][i] == side && m.positions[b][i] == side;
    CHECK(on_face);
  }
}

TEST_CASE(
    "a sphere: triangles stay within the tolerance, less than half as many as without it at the same error") {
  auto const f = [](double x, double y, double z) { return x * x + y * y + z * z; };  // reproduced exactly
  auto const open = test::volume(test::evenly({7, 7, 7}, -1, 1), f);
  auto const uniform = test::model(open, test::order(3, {0.36}, 3)).mesh;
  auto const [most, squares] = distances(uniform, 0.6);
  auto const m = test::model(open, within(0.9 * most, {0.36}, 4)).mesh;
  auto const [most_now, squares_now] = distances(m, 0.6);
  CAPTURE(most, squares, most_now, squares_now, uniform.triangles.size(), m.triangles.size());
  CHECK(most_now <= most);
  CHECK(squares_now <= squares);
  CHECK(2 * m.triangles.size() < uniform.triangles.size());
  for (auto const& n : m.normals) CHECK(std::hypot(n[0], n[1], n[2]) == Approx(1));
}

TEST_CASE("the polyline with the fewest chords: as good as the best of all subsets") {
  std::mt19937_64 random(7);
  auto const number = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  auto const distance = [](test::iso::point2 p, test::iso::point2 a, test::iso::point2 b) {
    double least = INFINITY;  // by sampling the chord
    for (int i = 0; i <= 2000; ++i) {
      double const t = i / 2000.0;
      least = std::min(least, std::hypot(a[0] + t * (b[0] - a[0]) - p[0], a[1] + t * (b[1] - a[1]) - p[1]));
    }
    return least;
  };
  for (int trial = 0; trial < 40; ++trial) {
    std::size_t const n = 3 + random() % 6;
    std::vector<test::iso::point2> points;
    for (std::size_t i = 0; i < n; ++i) points.push_back({static_cast<double>(i), 3 * number()});
    double const tolerance = 0.2 + 2 * number();
    bool const bent = trial % 3 == 0;
    auto const kept = test::iso::fewest_chords(points, tolerance, bent);
    std::size_t fewest = SIZE_MAX;
    for (unsigned set = 0; set < 1U << n; ++set) {
      if ((set & 1U) == 0 || ((set >> (n - 1)) & 1U) == 0) continue;
      std::vector<std::size_t> some;
      for (std::size_t i = 0; i < n; ++i)
        if (((set >> i) & 1U) != 0) some.push_back(i);
      if (bent && some.size() == 2) continue;
      bool good = true;
      for (std::size_t k = 1; k < some.size(); ++k) {
        int const inner = (some[k - 1] > 0 ? 1 : 0) + (some[k] + 1 < n ? 1 : 0);  // ends that can move
        double const limit = tolerance * (inner == 0 ? 1 : inner == 1 ? 4.0 / 3 : 2);
        for (auto i = some[k - 1] + 1; i < some[k]; ++i)
          good = good && distance(points[i], points[some[k - 1]], points[some[k]]) <= limit;
      }
      if (good) fewest = std::min(fewest, some.size());
    }
    CAPTURE(trial, n, tolerance, bent);
    CHECK(kept.size() == fewest);
    CHECK(kept.front() == 0);
    CHECK(kept.back() == n - 1);
  }
}
