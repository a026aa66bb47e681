// Checks the errors of bad input word for word.
#include <cmath>

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "skel/model/fit.hpp"

using namespace skel::model;

namespace {

std::vector<observation> line(int n) {
  std::vector<observation> all;
  for (int i = 1; i <= n; ++i) all.push_back({{{"N", i}, {"M", 2.0 * i}, {"K", 7}}, 1.0 + i, "s.csv:9"});
  return all;
}

std::string bad(std::vector<observation> const& samples, char const* basis, fit_options const& how = {}) {
  return test::error_text<skel::usage_error>([&] { (void)fit("divide", samples, parse_basis(basis), how); });
}

}  // namespace

TEST_CASE("too few samples are refused") {
  CHECK(bad(line(2), "1 + N") == "divide: 2 samples for 2 coefficients, expected at least 3");
  CHECK(bad({}, "1") == "divide: 0 samples for 1 coefficients, expected at least 2");
}

TEST_CASE("values that are not numbers are refused") {
  auto samples = line(5);
  samples[3].value = NAN;
  CHECK(bad(samples, "1 + N") == "s.csv:9: divide: found the value nan, expected a number");
  samples[3].value = HUGE_VAL;
  CHECK(bad(samples, "1 + N") == "s.csv:9: divide: found the value inf, expected a number");
  samples[3].value = 0;
  CHECK(bad(samples, "1 + N") ==
        "s.csv:9: divide: found the value 0, expected a positive one for relative weights (--weights equal "
        "accepts any)");
  CHECK(bad(samples, "1 + N", {.weights = weighting::equal}) == "(nothing thrown)");
}

TEST_CASE("unknown variables are refused") {
  CHECK(bad(line(5), "1 + E") == "s.csv:9: divide: unknown variable \"E\"; known: K, M, N");
}

TEST_CASE("columns that depend on each other are refused") {
  CHECK(bad(line(9), "1 + N + M") ==
        "divide: the columns of N, M are collinear: expected samples in which they vary independently, or a "
        "smaller basis");
  CHECK(bad(line(9), "1 + N + K") ==
        "divide: the columns of 1, K; K is 7 in all samples are collinear: expected samples in which they "
        "vary independently, or a smaller basis");
}

TEST_CASE("columns that nearly depend on each other cause a warning") {
  std::vector<observation> samples;
  for (int i = 1; i <= 20; ++i)
    samples.push_back({{{"N", i}, {"M", 2.0 * i + (i % 2 == 0 ? 1e-5 : -1e-5)}}, 1.0 + i, "s"});
  auto const f = fit("divide", samples, parse_basis("N + M"), {.weights = weighting::equal});
  REQUIRE(f.warnings.size() == 1);
  CHECK(f.warnings[0].starts_with("divide: the columns of N, M are nearly collinear (condition number "));
}

TEST_CASE("values that are all equal cause a warning") {
  auto samples = line(6);
  for (auto& o : samples) o.value = 3;
  auto const f = fit("divide", samples, parse_basis("1 + N"));
  REQUIRE(f.warnings.size() == 1);
  CHECK(f.warnings[0] == "divide: all values are equal (zero variance): R² is meaningless");
  CHECK(std::isfinite(f.r2));
  CHECK(f.coefficients[0] == Approx(3));
}

TEST_CASE("huge and tiny numbers neither overflow nor vanish") {
  std::vector<observation> samples;
  for (int i = 1; i <= 8; ++i) samples.push_back({{{"N", i * 1e25}}, i * 1e-25, "s"});
  auto const f = fit("divide", samples, parse_basis("1 + N"));
  CHECK(f.coefficients[1] == Approx(1e-50));
  CHECK(std::isfinite(f.high[1]));
}
