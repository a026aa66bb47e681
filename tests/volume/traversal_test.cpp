// The positions at which rays enter and leave cells; and the kernel compared with brute force,
// including rays along axes, faces and edges.
#include <algorithm>

#include "catch.hpp"
#include "cell_walk.hpp"
#include "fewer.hpp"
#include "small.hpp"

using namespace volume;
using test::uneven;

namespace {

/// Makes rays of all kinds: random, along axes, in faces, along edges, through corners, with
/// directions close to zero.
class ray_maker {
 public:
  ray_maker(planes const& grid, unsigned seed) : grid_(grid), random_(seed) {}

  camera::ray operator()() {
    camera::ray r{};
    for (std::size_t d = 0; d < 3; ++d) {
      bool const on_plane = random_() % 3 == 0;
      r.from[d] = on_plane ? grid_[d][random_() % grid_[d].size()]
                           : between(grid_[d].front() - 0.2, grid_[d].back() + 0.2);
      auto const kind = random_() % 6;
      r.direction[d] = kind == 0 ? 0 : kind == 1 ? (random_() % 2 != 0 ? 1e-13 : -1e-9) : between(-1, 1);
      if (kind == 2) r.direction[d] = random_() % 2 != 0 ? 1 : -1;
    }
    if (dot(r.direction, r.direction) < 1e-3) r.direction[random_() % 3] = 1;
    if (random_() % 4 == 0) r = test::ray_between(r.from, {pick(0), pick(1), pick(2)});  // towards a corner
    r.direction = normalized(r.direction);
    r.from = add(r.from, -between(0, 3), r.direction);
    return r;
  }

 private:
  double between(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  double pick(std::size_t d) { return grid_[d][random_() % grid_[d].size()] + 1e-300; }

  planes const& grid_;
  std::mt19937 random_;
};

/// Finds the same cells by sorting all crossings.
std::vector<std::array<std::size_t, 3>> cells_by_sorting(planes const& grid, camera::ray const& r) {
  std::vector<double> t;
  double near = 0, far = 1e300;
  for (std::size_t d = 0; d < 3; ++d) {
    if (r.direction[d] == 0) {
      if (r.from[d] < grid[d].front() || r.from[d] > grid[d].back()) return {};
      continue;
    }
    double first = 1e300, last = -1e300;
    for (auto const p : grid[d]) {
      t.push_back((p - r.from[d]) / r.direction[d]);
      first = std::min(first, t.back());
      last = std::max(last, t.back());
    }
    near = std::max(near, first);
    far = std::min(far, last);
  }
  if (!(near < far)) return {};
  t.push_back(near);
  t.push_back(far);
  std::ranges::sort(t);
  std::vector<std::array<std::size_t, 3>> cells;
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    if (t[i] < near || t[i + 1] > far || t[i + 1] - t[i] < 1e-9) continue;
    double const middle = (t[i] + t[i + 1]) / 2;
    std::array<std::size_t, 3> cell{};
    for (std::size_t d = 0; d < 3; ++d)
      while (cell[d] + 2 < grid[d].size() && grid[d][cell[d] + 1] <= r.from[d] + middle * r.direction[d])
        ++cell[d];
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace

TEST_CASE("segments are contiguous and sum to the chord; cells match those found by sorting") {
  planes const grid{uneven(9, 1), uneven(14, 2, -3, 2), uneven(5, 3, 10, 11)};
  ray_maker next(grid, 4);
  int hits = 0;
  for (std::uint64_t i = 0; i < test::fewer_if_slow(10000); ++i) {
    auto const ray = next();
    std::vector<std::array<std::size_t, 3>> cells;
    double first = 0, last = -1, sum = 0;
    bool gaps = false, wrong = false;
    walk_cells(grid, ray, 0, [&](cell_visit const& c) {
      if (last < 0) first = c.enters;
      gaps = gaps || (last >= 0 && c.enters != last) || !(c.enters < c.leaves);
      last = c.leaves;
      sum += c.leaves - c.enters;
      for (std::size_t d = 0; d < 3; ++d) wrong = wrong || c.cell[d] + 1 >= grid[d].size();
      if (c.leaves - c.enters >= 1e-9) cells.push_back(c.cell);
      return true;
    });
    REQUIRE_FALSE(gaps);
    REQUIRE_FALSE(wrong);
    if (last >= 0) {
      ++hits;
      REQUIRE(std::abs(sum - (last - first)) < 1e-12 * std::max(1.0, last));
    }
    // for a ray almost parallel to a plane, rounding decides where it is crossed
    bool const clear =
        std::ranges::none_of(ray.direction, [](double d) { return d != 0 && std::abs(d) < 1e-6; });
    if (clear) REQUIRE(cells == cells_by_sorting(grid, ray));
  }
  CHECK(hits > 1000);
}

TEST_CASE("each cell of a row is visited once, in both directions") {
  planes const grid{test::even(5), test::even(3), test::even(3)};
  for (bool const back : {false, true}) {
    std::vector<std::size_t> xs;
    camera::ray const ray{{back ? 2.0 : -1.0, 0.5, 0.5}, {back ? -1.0 : 1.0, 0, 0}};  // along an edge
    walk_cells(grid, ray, 0, [&](cell_visit const& c) {
      xs.push_back(c.cell[0]);
      CHECK(c.cell[1] == 1);  // the upper of the touching cells
      return true;
    });
    CHECK(xs == (back ? std::vector<std::size_t>{3, 2, 1, 0} : std::vector<std::size_t>{0, 1, 2, 3}));
  }
}

TEST_CASE("the kernel matches brute force for all kinds of rays, with and without light and attenuation") {
  auto const g = test::make_grid(
      {uneven(9, 5), uneven(14, 6, -3, 2), uneven(6, 7, 10, 11)},
      [](double x, double y, double z) { return std::sin(5 * x + y) + std::cos(3 * y) * (z - 10); });
  auto s = test::with_mapping({{-2, {0, 0.5F, 1}}, {0, {1, 1, 0}}, {2, {1, 0.25F, 0}}},
                              {{-1.5, 0}, {-1, 2}, {-0.6, 0}, {0.2, 0}, {1, 5}, {1.2, 1}, {1.4, 1}});
  s.tolerance = 1e-4;
  // light is sampled in the middle of parts of a cell; gradients turn quickly here
  double most_worst = 3e-3, most_mean = 2e-4;
  SECTION("plain") {}
  SECTION("light") {
    s.light = light_spec{vec3{1, 2, 3}, 0.3, 0.6, 0.3, 8};
    most_worst = 0.08;
    most_mean = 4e-3;
  }
  SECTION("light, one sample in a cell") {
    s.light = light_spec{vec3{1, 2, 3}, 0.3, 0.6, 0.3, 8, 1};
    most_worst = 0.2;
    most_mean = 0.01;
  }
  SECTION("light, sixteen samples in a cell") {
    s.light = light_spec{vec3{1, 2, 3}, 0.3, 0.6, 0.3, 8, 16};
    most_worst = 0.01;
    most_mean = 2e-4;
  }
  SECTION("light from the eye, attenuation") {
    s.light = light_spec{};
    s.attenuation = {0.4, {0.5F, 0.5F, 0.6F}};
    most_worst = 0.08;
    most_mean = 4e-3;
  }
  prepared_volume const v(g, s);
  renderer const r(v, s, make_camera(s, v.low(), v.sides(), 8, 8));
  ray_maker next(v.planes(), 8);
  double worst = 0, sum = 0;
  auto const rays = test::fewer_if_slow(800);
  for (std::uint64_t i = 0; i < rays; ++i) {
    auto const ray = next();
    work_counts counts;
    auto const got = test::numbers(r.along(ray, counts));
    auto const error_at = [&](vec3 const& shift) {
      return test::difference(
          got, brute_force(g, s, v.mapping().knots(), {add(ray.from, 1, shift), ray.direction}, false, 100));
    };
    double error = error_at({});
    // in a face of the box, rounding decides whether a ray is inside
    for (unsigned k = 0; error > 0.01 && k < 8; ++k)
      error = std::min(error, error_at({(k & 1U) != 0 ? 1e-7 : -1e-7, (k & 2U) != 0 ? 1e-7 : -1e-7,
                                        (k & 4U) != 0 ? 1e-7 : -1e-7}));
    worst = std::max(worst, error);
    sum += error / static_cast<double>(rays);
  }
  CHECK(worst < most_worst);
  CHECK(sum < most_mean);
}

TEST_CASE("skipped cells are invisible: sparse volumes match brute force") {
  auto const g = test::make_grid({test::even(70), test::even(60), test::even(50)}, [](double x, double y,
                                                                                      double z) {
    auto const ball = [&](double a, double b, double c) { return 0.05 - std::hypot(x - a, y - b, z - c); };
    return std::max({ball(0.1, 0.2, 0.1), ball(0.9, 0.8, 0.7), ball(0.2, 0.9, 0.9)});
  });
  auto const s = test::with_mapping({{0, {1, 0.5F, 0.25F}}}, {{0, 0}, {0.05, 60}});
  prepared_volume const v(g, s);
  auto const view = make_camera(s, v.low(), v.sides(), 40, 40);
  renderer const r(v, s, view);
  work_counts counts;
  double worst = 0, most = 0;
  for (std::uint64_t tile = 0; tile < r.tiling().tiles(); ++tile) {
    auto const pixels = r.tile(tile, counts);
    r.tiling().each_pixel(tile, [&](int lane, int x, int y) {
      auto const got = test::numbers(pixels[static_cast<std::size_t>(lane)]);
      most = std::max(most, got[3]);
      if ((x + y) % 3 != 0) return;
      auto const expected = brute_force(g, s, v.mapping().knots(), view.through(x + 0.5, y + 0.5), false, 20);
      worst = std::max(worst, test::difference(got, expected));
    });
  }
  CHECK(most > 0.5);
  CHECK(worst < 2e-3);
  CHECK(counts.cells < 40U * 40U * 60U);  // each ray crosses some 100 cells
}

TEST_CASE("missing values make their cells transparent; an invisible volume is transparent") {
  auto const g = test::make_grid({test::even(5), test::even(5), test::even(5)},
                                 [](double x, double, double) { return x == 0.5 ? std::nan("") : 1.0; });
  auto const s = test::with_mapping({{1, {1, 1, 1}}}, {{1, 2}});
  auto const at = test::numbers(test::along(g, s, test::ray_between({-1, 0.3, 0.3}, {1, 0.3, 0.3})));
  CHECK(at[3] == Approx(1 - std::exp(-2 * 0.5)).epsilon(1e-5));  // half of the cells are visible
  auto const clear = test::with_mapping({{1, {1, 1, 1}}}, {{1, 0}});
  CHECK(test::numbers(test::along(g, clear, test::ray_between({-1, 0.3, 0.3}, {1, 0.3, 0.3})))[3] == 0);
}
