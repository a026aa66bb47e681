#include "skel/model/fit.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "model/statistics.hpp"
#include "model_support.hpp"

using namespace skel::model;

namespace {

// seconds = 1e-3 + 2e-6 N + 5e-7 M with relative noise
std::vector<observation> synthetic(test::dice& dice, double noise, int repetitions = 2) {
  std::vector<observation> all;
  for (double n = 1000; n <= 64000; n *= 2)
    for (double m = 1000; m <= 64000; m *= 4)
      for (int r = 0; r < repetitions; ++r)
        all.push_back(
            {{{"N", n}, {"M", m}}, (1e-3 + 2e-6 * n + 5e-7 * m) * (1 + noise * dice.normal()), "s"});
  return all;
}

}  // namespace

TEST_CASE("exact data give exact coefficients") {
  test::dice dice(1);
  auto const basis = parse_basis("1 + N + M");
  for (auto const weights : {weighting::relative, weighting::equal}) {
    auto const f = fit("x", synthetic(dice, 0), basis, {.weights = weights});
    CHECK(f.coefficients[0] == Approx(1e-3));
    CHECK(f.coefficients[1] == Approx(2e-6));
    CHECK(f.coefficients[2] == Approx(5e-7));
    CHECK(f.r2 == Approx(1));
    CHECK(f.outliers.empty());
    CHECK(f({{"N", 1e6}, {"M", 1e6}}) == Approx(2.501));
  }
}

TEST_CASE("intervals contain the true coefficients as often as stated") {
  auto const basis = parse_basis("1 + N + M");
  double const truth[] = {1e-3, 2e-6, 5e-7};
  constexpr int trials = 1000;
  int held[3] = {0, 0, 0};
  int predicted = 0;
  test::dice dice(42);
  for (int i = 0; i < trials; ++i) {
    auto const f = fit("x", synthetic(dice, 0.1), basis);
    for (int j = 0; j < 3; ++j)
      held[j] +=
          f.low[static_cast<std::size_t>(j)] <= truth[j] && truth[j] <= f.high[static_cast<std::size_t>(j)];
    point const at{{"N", 128000}, {"M", 32000}};
    double const t = 1e-3 + 2e-6 * 128000 + 5e-7 * 32000;
    auto const deviation = std::sqrt(f.variance(f.functions(at)));
    predicted += std::abs(f(at) - t) <= student_quantile(0.975, f.degrees_of_freedom()) * deviation;
  }
  // Three standard errors of a binomial count around 950.
  for (int const h : held) {
    CHECK(h >= 929);
    CHECK(h <= 971);
  }
  CHECK(predicted >= 929);
}

TEST_CASE("a fit without a coefficient of 0 solves the normal equations") {
  test::dice dice(3);
  auto const samples = synthetic(dice, 0.05);
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (auto const& o : samples) {
    rows.push_back({1, o.at.at("N"), o.at.at("M")});
    values.push_back(o.value);
  }
  auto const basis = parse_basis("1 + N + M");
  auto const equal = fit("x", samples, basis, {.weights = weighting::equal});
  auto const expected = test::normal_equations(rows, values, std::vector<double>(rows.size(), 1));
  for (std::size_t j = 0; j < 3; ++j) CHECK(equal.coefficients[j] == Approx(expected[j]).epsilon(1e-9));
  // Relative weights are 1/t² of the fitted t.
  auto const relative = fit("x", samples, basis);
  std::vector<double> weights;
  weights.reserve(samples.size());
  for (auto const& o : samples) weights.push_back(1 / (relative(o.at) * relative(o.at)));
  auto const again = test::normal_equations(rows, values, weights);
  for (std::size_t j = 0; j < 3; ++j) CHECK(relative.coefficients[j] == Approx(again[j]).epsilon(1e-7));
}

TEST_CASE("nonnegative fits are optimal") {
  test::dice dice(5);
  auto const basis = parse_basis("1 + N + N^2 + log(N)");
  for (int i = 0; i < 200; ++i) {
    std::vector<observation> samples;
    for (double n = 10; n < 5000; n *= 1.7) samples.push_back({{{"N", n}}, 1 + 5 * dice.uniform(), "s"});
    auto const f = fit("x", samples, basis, {.weights = weighting::equal});
    // Karush-Kuhn-Tucker: the gradient is 0 for positive coefficients and not negative for the others.
    double scale = 0;
    for (auto const& o : samples) scale += o.value * o.value;
    for (std::size_t j = 0; j < basis.size(); ++j) {
      CHECK(f.coefficients[j] >= 0);
      double gradient = 0;
      double length = 0;
      for (auto const& o : samples) {
        double const column = basis[j](o.at);
        gradient += column * (o.value - f(o.at));
        length += column * column;
      }
      gradient /= std::sqrt(length * scale);
      if (f.coefficients[j] > 0)
        CHECK(std::abs(gradient) < 1e-8);
      else
        CHECK(gradient < 1e-8);
    }
  }
}

TEST_CASE("shuffled times are not explained") {
  test::dice dice(6);
  double sum = 0;
  constexpr int trials = 100;
  for (int i = 0; i < trials; ++i) {
    auto samples = synthetic(dice, 0.05, 4);
    for (std::size_t k = samples.size() - 1; k > 0; --k)
      std::swap(samples[k].value, samples[dice.below(k + 1)].value);
    auto const f = fit("x", samples, parse_basis("1 + N + M"), {.weights = weighting::equal});
    CHECK(f.r2 < 0.15);
    sum += f.r2;
  }
  CHECK(sum / trials < 0.03);
}

TEST_CASE("outliers are named, not dropped") {
  test::dice dice(8);
  auto samples = synthetic(dice, 0.02);
  samples[17].value *= 2;
  samples[17].where = "s.csv:19";
  auto const f = fit("x", samples, parse_basis("1 + N + M"));
  REQUIRE(f.outliers.size() == 1);
  CHECK(f.outliers[0].where == "s.csv:19");
  CHECK(f.outliers[0].expected == Approx(samples[17].value / 2).epsilon(0.1));
  CHECK(f.samples == static_cast<int>(samples.size()));
}

TEST_CASE("quantiles match published tables") {
  CHECK(student_quantile(0.975, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(student_quantile(0.975, 10) == Approx(2.2281).epsilon(1e-4));
  CHECK(student_quantile(0.95, 30) == Approx(1.6973).epsilon(1e-4));
  CHECK(normal_probability(1.959964) == Approx(0.975).epsilon(1e-5));
  CHECK(median({3, 1, 2}) == 2);
  CHECK(quantile({0, 10}, 0.9) == Approx(9));
}
