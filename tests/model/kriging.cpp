#include "skel/model/kriging.hpp"

#include <cmath>

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "skel/model/model.hpp"

using namespace skel::model;

namespace {

// Resembles the costs of graphs: a giant component appears at M/N = 1/2, and caches have a limited
// size.
double cost(double n, double m) {
  double const ratio = std::log(m / n);
  double const caches = 1 + 2 / (1 + std::exp(-3 * (std::log(n) - std::log(4000.0))));
  return 1e-6 + 1e-8 * n * caches * (0.2 + std::exp(-ratio * ratio));
}

std::vector<observation> measured(double noise, std::uint64_t seed, double largest = 16000) {
  test::dice dice(seed);
  std::vector<observation> all;
  for (double n = 1000; n <= largest; n *= 2)
    for (double m = 1000; m <= largest; m *= 2)
      for (int r = 0; r < 3; ++r)
        all.push_back({{{"N", n}, {"M", m}}, cost(n, m) * (1 + noise * dice.normal()), "s"});
  return all;
}

fitted both(std::span<observation const> samples) {
  auto f = fit("x", samples, parse_basis("1 + N + M"));
  add_residuals(f, samples);
  return f;
}

}  // namespace

TEST_CASE("residuals are interpolated between the samples") {
  auto const f = both(measured(0.01, 1));
  REQUIRE(f.residuals);
  double worst = 0;
  double worst_alone = 0;
  for (double n = 1400; n < 16000; n *= 1.7)
    for (double m = 1400; m < 16000; m *= 1.7) {
      point const at{{"N", n}, {"M", m}};
      worst = std::max(worst, std::abs(f(at) / cost(n, m) - 1));
      worst_alone = std::max(worst_alone, std::abs(f.trend(at) / cost(n, m) - 1));
    }
  CHECK(worst_alone > 0.3);
  CHECK(worst < 0.12);
  CHECK(f.residuals->error < 0.3 * f.residuals->without);
}

TEST_CASE("the deviation matches the errors and grows outside of the samples") {
  auto const f = both(measured(0.01, 2));
  REQUIRE(f.residuals);
  int inside = 0;
  int all = 0;
  for (double n = 1400; n < 16000; n *= 1.4)
    for (double m = 1400; m < 16000; m *= 1.4) {
      point const at{{"N", n}, {"M", m}};
      ++all;
      inside += std::abs(std::log(f(at) / cost(n, m))) < 2 * f.residuals->deviation(at) + 0.01;
    }
  CHECK(inside >= 0.9 * all);
  double const near = f.residuals->deviation({{"N", 4000}, {"M", 4000}});
  double const far = f.residuals->deviation({{"N", 64000}, {"M", 1000}});
  CHECK(far > 3 * near);
  // Far from all samples the correction vanishes.
  CHECK(std::abs((*f.residuals)({{"N", 1e12}, {"M", 1}})) < 1e-3);
}

TEST_CASE("nothing is added to a basis that explains the samples") {
  test::dice dice(3);
  std::vector<observation> samples;
  for (double n = 1000; n <= 64000; n *= 2)
    for (double m = 1000; m <= 64000; m *= 2)
      for (int r = 0; r < 3; ++r)
        samples.push_back(
            {{{"N", n}, {"M", m}}, (1e-5 + 1e-8 * n + 2e-8 * m) * (1 + 0.05 * dice.normal()), "s"});
  CHECK_FALSE(both(samples).residuals);
}

TEST_CASE("kriging is omitted with few points, equal weights or sizes of zero") {
  auto const few = measured(0.01, 4, 2000);
  CHECK_FALSE(both(few).residuals);
  auto const samples = measured(0.01, 4);
  auto equal = fit("x", samples, parse_basis("1 + N + M"), {.weights = weighting::equal});
  add_residuals(equal, samples);
  CHECK_FALSE(equal.residuals);
  auto zero = samples;
  zero[0].at["M"] = 0;
  CHECK_FALSE(both(zero).residuals);
}

TEST_CASE("kriging survives writing and reading a model file") {
  std::vector<sample> samples;
  for (auto const& o : measured(0.01, 5)) {
    sample s;
    s.skeleton = "divide_and_conquer";
    s.schedule = "hypercube";
    s.phase = "sequential";
    s.variables = o.at;
    s.variables["P"] = 1;
    s.measured = {{"seconds", o.value}};
    samples.push_back(s);
  }
  model_options how;
  how.basis[""] = "1 + N + M";
  auto const m = fit_model(samples, how);
  auto const again = model::parse(m.to_json(), "m.json");
  auto const& before = m.skeletons[0].terms[0].curve;
  auto const& after = again.skeletons[0].terms[0].curve;
  REQUIRE(before.residuals);
  REQUIRE(after.residuals);
  point const at{{"N", 3000}, {"M", 5000}};
  CHECK(after(at) == Approx(before(at)).epsilon(1e-12));
  CHECK(after.residuals->deviation(at) == Approx(before.residuals->deviation(at)).epsilon(1e-9));
  how.residuals = false;
  CHECK_FALSE(fit_model(samples, how).skeletons[0].terms[0].curve.residuals);
}

TEST_CASE("an inconsistent kriging is refused") {
  kriging k;
  auto const bad = [&] { return test::error_text<skel::usage_error>([&] { k.prepare(); }); };
  CHECK(bad() == "0 lengths for 0 variables, expected 0");
  k.variables = {"N", "M"};
  k.lengths = {1, 1};
  CHECK(bad() == "2 lengths for 2 variables, expected 3");
  k.lengths = {1, 1, 1};
  CHECK(bad() == "0 points, expected 1 to 300");
  k.points = {{{{"N", 1}, {"M", 1}}, 0.1, 1}};
  CHECK(bad() == "sill must be positive, noise must not be negative");
  k.sill = 1;
  k.prepare();
  CHECK(test::error_text<skel::usage_error>([&] { (void)k({{"N", 1}}); }) == "missing variable M");
  CHECK(test::error_text<skel::usage_error>([&] {
          (void)k({{"N", 1}, {"M", 0}});
        }) == "M = 0, expected a positive number");
}
