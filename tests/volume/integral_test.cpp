// Integrals with known values, and orders of accuracy (Etiene et al., "Verifying volume rendering
// using discretization error analysis", 2014: refine step, grid and pixel separately).
#include "catch.hpp"
#include "paper_rule.hpp"
#include "small.hpp"

using namespace volume;
using test::even;
using test::uneven;

namespace {

rgba by_paper(test::grid const& g, specification const& s, camera::ray const& ray, int steps) {
  prepared_volume const v(g, s);
  work_counts counts;
  return trapezoid_along(v, s, ray, 0, steps, counts);
}

double order(double coarse, double fine) { return std::log2(coarse / fine); }

}  // namespace

TEST_CASE("homogeneous: C = c (1 - e^-kL) up to rounding, for any cells") {
  for (unsigned points : {2U, 3U, 7U, 50U})
    for (double const k : {0.01, 1.0, 7.0}) {
      auto const g = test::make_grid({uneven(points, 1), uneven(points + 1, 2), uneven(2 * points, 3)},
                                     [](double, double, double) { return 5; });
      auto s = test::with_mapping({{5, {0.25F, 0.5F, 1}}}, {{5, k}});
      for (auto const& to : {vec3{1, 1, 1}, vec3{0.9, 0.3, 0.2}, vec3{0.01, 1, 0.5}}) {
        vec3 const from{0.05, 0.05, 0.1};
        auto const start = add(from, -0.75, add(to, -1, from));  // in front of the box
        auto const ray = test::ray_between(start, to);
        auto const at = test::along(g, s, ray);
        // the chord, computed with slabs
        double near = 0, far = 1e9;
        for (std::size_t d = 0; d < 3; ++d) {
          double const a = -ray.from[d] / ray.direction[d], b = (1 - ray.from[d]) / ray.direction[d];
          near = std::max(near, std::min(a, b));
          far = std::min(far, std::max(a, b));
        }
        double const opacity = 1 - std::exp(-k * (far - near));
        INFO("points " << points << " k " << k);
        CHECK(test::difference(test::numbers(at), {0.25 * opacity, 0.5 * opacity, opacity, opacity}) < 3e-6);
        s.rule = rule::trapezoid;
        CHECK(std::abs(test::numbers(test::along(g, s, ray))[3] - opacity) < 1e-6);
        s.rule = rule::exact;
      }
    }
}

TEST_CASE("linear extinction: T = exp(-(k0 + k1) L / 2)") {
  auto const g = test::make_grid({uneven(9, 4), uneven(6, 5), uneven(7, 6)},
                                 [](double x, double y, double z) { return x + 2 * y + 3 * z; });
  auto s = test::with_mapping({{0, {1, 1, 1}}}, {{0, 0}, {6, 6}});
  auto const ray = test::ray_between({0, 0, 0}, {1, 1, 1});
  double const opacity = 1 - std::exp(-3 * std::sqrt(3.0));
  CHECK(std::abs(test::numbers(test::along(g, s, ray))[3] - opacity) < 2e-6);
  for (int const steps : {1, 2})
    CHECK(std::abs(test::numbers(by_paper(g, s, ray, steps))[3] - opacity) < 1e-7);
}

TEST_CASE("constant extinction, linear colour: the closed form, in one cell and in many") {
  for (std::size_t points : {2, 5, 33}) {
    auto const g =
        test::make_grid({even(points), even(2), even(2)}, [](double x, double, double) { return x; });
    double const k = 2, a = 0.9, b = -0.8;
    auto const s = test::with_mapping({{0, {0.9F, 0.9F, 0.9F}}, {1, {0.1F, 0.1F, 0.1F}}}, {{0, k}, {1, k}});
    auto const ray = test::ray_between({-1, 0.5, 0.5}, {1, 0.5, 0.5});
    double const e = std::exp(-k);
    double const expected = a * (1 - e) + b * ((1 - e) / k - e);
    CHECK(std::abs(test::numbers(test::along(g, s, ray))[0] - expected) < 2e-6);
  }
}

TEST_CASE("a cubic along the ray: optical depth is exact in each cell where the mapping has no knot") {
  // one cell, extinction = xyz scaled: along the diagonal t^3, with the integral 1/4
  auto const g =
      test::make_grid({even(2), even(2), even(2)}, [](double x, double y, double z) { return x * y * z; });
  auto const s = test::with_mapping({{0, {1, 1, 1}}}, {{0, 0}, {1, 1}});
  auto const ray = test::ray_between({0, 0, 0}, {1, 1, 1});
  CHECK(std::abs(test::numbers(test::along(g, s, ray))[3] - (1 - std::exp(-std::sqrt(3.0) / 4))) < 1e-6);
  // the trapezoid rule converges with its order
  double const exact = 1 - std::exp(-std::sqrt(3.0) / 4);
  double const coarse = std::abs(test::numbers(by_paper(g, s, ray, 8))[3] - exact);
  double const fine = std::abs(test::numbers(by_paper(g, s, ray, 16))[3] - exact);
  CHECK(order(coarse, fine) == Approx(2).margin(0.1));
}

TEST_CASE("knots split the cell: a thin layer inside one cell is integrated completely") {
  auto const g = test::make_grid({even(2), even(2), even(2)}, [](double x, double, double) { return x; });
  auto const ray = test::ray_between({-1, 0.4, 0.6}, {1, 0.4, 0.6});
  // a triangle of height 1000 and width 0.002: area 1; and two layers, the near one hides the far one
  auto const thin = test::with_mapping({{0, {1, 1, 1}}}, {{0.5, 0}, {0.501, 1000}, {0.502, 0}});
  CHECK(test::numbers(test::along(g, thin, ray))[3] == Approx(1 - std::exp(-1.0)).epsilon(1e-4));
  auto const two = test::with_mapping(
      {{0.5, {1, 0, 0}}, {0.5, {0, 0, 1}}},
      {{0.2, 0}, {0.2, 100}, {0.4, 100}, {0.4, 0}, {0.7, 0}, {0.7, 100}, {0.9, 100}, {0.9, 0}});
  auto const front = test::numbers(test::along(g, two, ray));
  auto const back = test::numbers(test::along(g, two, test::ray_between({2, 0.4, 0.6}, {0, 0.4, 0.6})));
  CHECK(test::difference(front, {1, 0, 0, 1}) < 1e-6);
  CHECK(test::difference(back, {0, 0, 1, 1}) < 1e-6);
}

TEST_CASE("order in the step: 2 for the trapezoid rule") {
  auto const g =
      test::make_grid({uneven(6, 7), uneven(5, 8), uneven(7, 9)},
                      [](double x, double y, double z) { return std::sin(3 * x + y) * std::cos(2 * z) + 1; });
  auto const s = test::with_mapping({{0, {0, 0.5F, 1}}, {2, {1, 0.25F, 0}}}, {{0, 0}, {2, 4}});
  auto const ray = test::ray_between({-0.2, 0.1, 0.3}, {1, 0.9, 0.8});
  auto const exact = test::numbers(by_paper(g, s, ray, 2048));
  std::vector<double> errors;
  for (int const steps : {2, 4, 8, 16})
    errors.push_back(test::difference(test::numbers(by_paper(g, s, ray, steps)), exact));
  for (std::size_t i = 1; i < errors.size(); ++i)
    CHECK(order(errors[i - 1], errors[i]) == Approx(2).margin(0.25));
}

TEST_CASE("order in the grid: 2, of a smooth field") {
  auto const f = [](double x, double y, double z) { return std::sin(3 * x + y) * std::cos(2 * z) + 1; };
  auto const s = test::with_mapping({{0, {0, 0.5F, 1}}, {2, {1, 0.25F, 0}}}, {{0, 0}, {2, 4}});
  auto const ray = test::ray_between({-0.2, 0.1, 0.3}, {1, 0.9, 0.8});
  auto const at = [&](std::size_t cells) {
    return test::numbers(
        test::along(test::make_grid({even(cells + 1), even(cells + 1), even(cells + 1)}, f), s, ray));
  };
  auto const exact = at(80);
  double const coarse = test::difference(at(5), exact), middle = test::difference(at(10), exact),
               fine = test::difference(at(20), exact);
  CHECK(order(coarse, middle) == Approx(2).margin(0.6));
  CHECK(order(middle, fine) == Approx(2).margin(0.4));
}

TEST_CASE("order in the pixel: the mean of finer pixels' centres converges with order 2") {
  auto const g = test::make_grid({even(9), even(9), even(9)}, [](double x, double y, double z) {
    return std::sin(3 * x) + std::cos(4 * y) + z;
  });
  auto s = test::with_mapping({{-1, {0, 0.5F, 1}}, {3, {1, 0.25F, 0}}}, {{-1, 0}, {3, 3}});
  s.view.parallel = true;
  s.view.elevation = 90;
  s.view.height = 0.8;  // entirely inside the grid
  prepared_volume const v(g, s);
  auto const mean = [&](int size) {
    renderer const r(v, s, make_camera(s, v.low(), v.sides(), size, size));
    work_counts counts;
    std::array<double, 4> sum{};
    for (std::uint64_t tile = 0; tile < r.tiling().tiles(); ++tile) {
      auto const pixels = r.tile(tile, counts);
      r.tiling().each_pixel(tile, [&](int lane, int, int) {
        auto const p = test::numbers(pixels[static_cast<std::size_t>(lane)]);
        for (std::size_t c = 0; c < 4; ++c) sum[c] += p[c] / size / size;
      });
    }
    return sum;
  };
  auto const exact = mean(128);
  CHECK(order(test::difference(mean(4), exact), test::difference(mean(8), exact)) == Approx(2).margin(0.5));
}

TEST_CASE("early termination: the error is at most the transparency at the limit") {
  auto const g =
      test::make_grid({even(20), even(20), even(20)}, [](double x, double y, double z) { return x + y * z; });
  auto s = test::with_mapping({{0, {0, 0.5F, 1}}, {2, {1, 0.25F, 0}}}, {{0, 1}, {2, 30}});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(0, 1);
  bool ended = false;
  for (double const limit : {0.5, 0.9, 0.99, 0.999})
    for (int i = 0; i < 40; ++i) {
      auto const ray =
          test::ray_between({-1, place(random), place(random)}, {1, place(random), place(random)});
      for (auto const r : {rule::exact, rule::trapezoid}) {
        s.rule = r;
        s.visibility_limit = 1;
        auto const whole = test::numbers(test::along(g, s, ray));
        s.visibility_limit = limit;
        auto const cut = test::numbers(test::along(g, s, ray));
        CHECK(test::difference(whole, cut) <= (1 - limit) * 1.0001 + 1e-6);
        ended = ended || test::difference(whole, cut) > 1e-5;
      }
    }
  CHECK(ended);
}
