#include "skel/model/predict.hpp"

#include <cmath>

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"

using namespace skel::model;
using test::error_text;

namespace {

term known(std::string phase, char const* basis, std::vector<double> coefficients,
           std::string quantity = "seconds") {
  term t;
  t.phase = std::move(phase);
  t.quantity = std::move(quantity);
  t.curve.basis = parse_basis(basis);
  t.curve.covariance.assign(coefficients.size() * coefficients.size(), 0);
  t.curve.coefficients = std::move(coefficients);
  t.curve.range = {{"M", {10, 100}}};
  return t;
}

skeleton_model merge_sort() {
  skeleton_model m;
  m.skeleton = "divide_and_conquer";
  m.schedule = "hypercube";
  m.terms = {known("divide", "M", {1}), known("sequential", "M", {100}), known("combine", "M", {2}),
             known("exchange", "M", {8}, "bytes")};
  m.per_level = {{"M", 0.5}};
  return m;
}

machine const office =
    machine::parse(R"({"name": "office", "latency_seconds": 3, "gap_seconds_per_byte": 0.5})", "o");

double seconds(skeleton_model const& m, double size, int ranks) {
  return predict(m, &office, {{"M", size}}, ranks).seconds();
}

}  // namespace

TEST_CASE("the times of all levels are added") {
  auto const m = merge_sort();
  CHECK(seconds(m, 64, 1) == 6400);
  // divide + sequential of the half + 2 (l + bytes g) + combine
  CHECK(seconds(m, 64, 2) == 64 + 3200 + 2 * (3 + 64 * 8 * 0.5) + 128);
  CHECK(seconds(m, 64, 4) == (64 + 32) + 1600 + 2 * (3 + 256) + 2 * (3 + 128) + (128 + 64));
}

TEST_CASE("the slower of two halves counts") {
  auto const m = merge_sort();
  // With three ranks, one works on its third alone while two share the rest. It then serves both,
  // and half of the second message's time is added.
  double const third = 64.0 / 3;
  double const whole = 64 + 1.5 * 2 * (3 + 256) + 128;
  double const pair = 2 * third + 100 * third + 2 * (3 + 4 * 2 * third) + 2 * 2 * third;
  CHECK(seconds(m, 64, 3) == Approx(whole + pair));
  CHECK(predict(m, &office, {{"M", 64}}, 3).deviation() == Approx(0.2887 * 2 * (3 + 256)).epsilon(1e-3));
  auto dear = m;
  dear.terms[1].curve.coefficients = {0.01};
  auto const e = predict(dear, &office, {{"M", 64}}, 3);
  CHECK(e.seconds() == Approx(whole + pair - (100 - 0.01) * third));
  CHECK(e.parts.size() == 7);
  dear.schedule = "tree";  // even halves; a rank sends its solution once
  CHECK(predict(dear, &office, {{"M", 64}}, 3).seconds() ==
        Approx(64 + 2 * (3 + 256) + 128 + 32 + 0.01 * 16 + 2 * (3 + 128) + 64));
}

TEST_CASE("sizes outside of the samples cause a warning") {
  auto const e = predict(merge_sort(), &office, {{"M", 1000}}, 2);
  REQUIRE(e.warnings.size() == 4);
  CHECK(e.warnings[0] == "divide: M = 1000 is 10 times the largest value in the samples (100): extrapolated");
  CHECK(predict(merge_sort(), &office, {{"M", 5}}, 1).warnings.at(0) ==
        "sequential: M = 5 is below the smallest value in the samples (10): extrapolated");
  CHECK(predict(merge_sort(), &office, {{"M", 50}}, 2).warnings.empty());
}

TEST_CASE("errors of a coefficient are shared by all levels, those of measurements are not") {
  skeleton_model m = merge_sort();
  m.terms = {known("divide", "M", {1}), known("sequential", "M", {0})};
  m.terms[0].curve.covariance = {0.01};  // ± 0.1
  auto const shared = predict(m, nullptr, {{"M", 64}}, 4);
  CHECK(shared.deviation() == Approx(0.1 * (64 + 32)));
  m.terms[0].curve.covariance = {0};
  m.terms[0].curve.deviation = 0.1;
  CHECK(predict(m, nullptr, {{"M", 64}}, 4).deviation() == Approx(0.1 * std::hypot(64, 32)));
}

TEST_CASE("outside of the samples the held-out error counts") {
  skeleton_model m = merge_sort();
  m.terms = {known("sequential", "M", {1})};
  m.terms[0].error = held_out{6, 3, 0.1, 0.1645};
  CHECK(predict(m, nullptr, {{"M", 50}}, 1).deviation() == 0);
  CHECK(predict(m, nullptr, {{"M", 1000}}, 1).deviation() == Approx(100));
}

TEST_CASE("other functions that explain the samples widen the interval and are named") {
  skeleton_model m;
  m.terms = {known("run", "M^2", {1})};
  auto& curve = m.terms[0].curve;
  curve.weight = 0.6;
  formula other;
  other.basis = parse_basis("M");
  other.coefficients = {10};
  other.covariance = {0};
  other.weight = 0.4;
  curve.alternatives = {other};
  auto const near = predict(m, nullptr, {{"M", 10}}, 1);
  CHECK(near.warnings.empty());
  CHECK(near.deviation() == 0);
  auto const far = predict(m, nullptr, {{"M", 1000}}, 1);
  CHECK(far.seconds() == 1e6);
  CHECK(far.deviation() == Approx(std::sqrt(0.4) * (1e6 - 1e4)));
  CHECK(far.interval().first == Approx(1e4));
  CHECK(far.interval().second == Approx(1e6));
  REQUIRE(far.warnings.size() == 2);
  CHECK(far.warnings[1] ==
        "run: the samples do not decide between M^2 (1e+06) and M (1e+04) at M = 1000: measure M = 200 to "
        "decide");
  // Without the size that it needs, an alternative does not count.
  curve.alternatives[0].basis = parse_basis("N");
  CHECK(predict(m, nullptr, {{"M", 1000}}, 1).deviation() == 0);
  // Alternatives of several terms combine; all levels of a term follow the same one.
  auto halves = merge_sort();
  halves.terms = {known("divide", "M", {1}), known("sequential", "M", {0})};
  halves.terms[0].curve.weight = 0.5;
  other.coefficients = {3};
  other.weight = 0.5;
  halves.terms[0].curve.alternatives = {other};
  CHECK(predict(halves, nullptr, {{"M", 64}}, 4).deviation() == Approx(std::sqrt(0.5) * 2 * (64 + 32)));
}

TEST_CASE("a model of runs that does not depend on the number of ranks says so") {
  skeleton_model m;
  m.terms = {known("run", "1 + M", {1, 2})};
  CHECK(predict(m, nullptr, {{"M", 20}}, 1).warnings.empty());
  auto const warnings = predict(m, nullptr, {{"M", 20}}, 8).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(
      warnings[0] ==
      "run: the model does not depend on P, so this is the time of any number of ranks: fit samples of more "
      "ranks, or with --basis \"run=1 + M/P\"");
  m.terms = {known("run", "1 + M/P", {1, 2})};
  CHECK(predict(m, nullptr, {{"M", 20}}, 8).warnings.empty());
}

TEST_CASE("missing terms and sizes are named") {
  auto const m = merge_sort();
  auto const bad = [&](point const& at, int ranks, machine const* where, predict_options const& how = {}) {
    return error_text<skel::usage_error>([&] { (void)predict(m, where, at, ranks, how); });
  };
  CHECK(bad({{"N", 1}}, 2, &office) ==
        "divide: unknown variable \"M\"; known: N, P (give sizes with --set NAME=VALUE)");
  CHECK(bad({{"M", 50}}, 2, nullptr, {.exchange = exchange_cost::fitted}) ==
        "exchange: missing machine, expected --machine FILE.json");
  auto const assumed = predict(m, nullptr, {{"M", 50}}, 2);
  CHECK(assumed.seconds() == Approx(predict(m, &office, {{"M", 50}}, 2).seconds() - 2 * (3 + 50 * 8 * 0.5) +
                                    2 * (20e-6 + 400e-9)));
  CHECK(assumed.warnings.at(0) ==
        "exchange = assumed latency of 2e-05 s and 1e-09 s per byte; measure them with skel-model calibrate");
  CHECK(bad({{"M", NAN}}, 2, &office) == "M = nan, expected a number of at least 0");
  CHECK(bad({{"M", 50}}, 0, &office) == "0 ranks, expected 1 to 16777216");
  CHECK(bad({{"M", 50}}, 2, &office, {.exchange = exchange_cost::measured}) ==
        "exchange: the machine file contains no measured exchanges");
  CHECK(bad({{"M", 50}}, 2, &office, {.kind = "serialised"}) ==
        "machine office: no entry of kind \"serialised\"; known: raw");
  skeleton_model quiet = m;
  quiet.terms.pop_back();
  CHECK(predict(quiet, nullptr, {{"M", 50}}, 2).warnings.at(0) ==
        "exchange = 0: no exchanges in the samples and no bytes given; communication counts 0");
  std::erase_if(quiet.terms, [](term const& t) { return t.phase != "sequential"; });  // as on one rank
  auto const warnings = predict(quiet, nullptr, {{"M", 50}}, 4).warnings;
  REQUIRE(warnings.size() == 3);  // the sizes are known to be halved
  CHECK(warnings[0] == "divide = 0: not contained in the samples");
  CHECK(warnings[2] == "combine = 0: not contained in the samples");
  CHECK(predict(quiet, nullptr, {{"M", 50}}, 1).warnings.empty());
  quiet.per_level.clear();
  CHECK(predict(quiet, nullptr, {{"M", 50}}, 1).warnings.empty());
  CHECK(predict(quiet, nullptr, {{"M", 50}}, 4).warnings.at(3) ==
        "no variable is known to shrink with each division, because samples of one rank do not show it; fit "
        "with --halved");
}

TEST_CASE("sizes outside of the samples are reported even if no function depends on them") {
  skeleton_model m = merge_sort();
  m.terms = {known("sequential", "M", {1})};
  m.terms[0].curve.range = {{"M", {10, 100}}, {"N", {5, 5}}};
  CHECK(predict(m, nullptr, {{"M", 50}, {"N", 5}}, 1).warnings.empty());
  CHECK(predict(m, nullptr, {{"M", 50}, {"N", 50}}, 1).warnings.at(0) ==
        "sequential: N = 50 is 10 times the largest value in the samples (5): extrapolated");
}

TEST_CASE("measured exchanges are used if available") {
  auto where = office;
  where.at[0].exchange.pieces = {{0, HUGE_VAL, 1, 0.25}};
  auto const at = point{{"M", 64}};
  CHECK(predict(merge_sort(), &where, at, 2).seconds() == 64 + 3200 + (1 + 64 * 8 * 0.25) + 128);
  CHECK(predict(merge_sort(), &where, at, 2, {.exchange = exchange_cost::paper}).seconds() ==
        64 + 3200 + 2 * (3 + 64 * 8 * 0.5) + 128);
}

TEST_CASE("the phases of small runs predict large runs") {
  test::dice dice(9);
  auto const runs = [&](double noise) {
    std::vector<sample> all;
    for (double size = 1 << 10; size <= 1 << 18; size *= 2)
      for (int const ranks : {2, 4}) {
        auto const add = [&](std::string const& phase, int level, double at, double t, double bytes) {
          sample s;
          s.skeleton = "divide_and_conquer";
          s.schedule = "hypercube";
          s.phase = phase;
          s.level = level;
          s.variables = {{"M", at}, {"P", ranks}};
          s.measured["seconds"] = t * (1 + noise * dice.normal());
          if (bytes > 0) s.measured["bytes"] = bytes;
          s.file = "s.csv";
          s.line = all.size() + 2;
          all.push_back(s);
        };
        int const levels = ranks == 2 ? 1 : 2;
        double whole = 0;
        auto const first = all.size();
        add("run", 0, size, 1, 0);
        double at = size;
        for (int level = 0; level < levels; ++level, at /= 2) {
          add("divide", level, at, 1e-9 * at, 0);
          add("exchange", level, at, 1e-4 + 4e-9 * at, 4 * at);
          add("combine", level, at, 2e-9 * at, 0);
          whole += 1e-4 + 7e-9 * at;
        }
        add("sequential", levels, at, 1e-7 * at, 0);
        all[first].measured["seconds"] = whole + 1e-7 * at;
      }
    return all;
  };
  model_options given;
  given.basis = {{"divide", "1 + M"}, {"combine", "1 + M"}, {"sequential", "1 + M"}, {"exchange", "1 + M"}};
  auto const exact = fit_model(runs(0), given);
  CHECK(exact.skeletons.at(0).per_level.at("M") == 0.5);
  REQUIRE(exact.skeletons[0].error);
  CHECK(exact.skeletons[0].error->median < 1e-6);
  CHECK(exact.skeletons[0].error->predicted == 6);
  auto const noisy = fit_model(runs(0.05), {});
  REQUIRE(noisy.skeletons.at(0).error);
  CHECK(noisy.skeletons[0].error->median < 0.1);
  auto const e = predict(noisy.skeletons[0], nullptr, {{"M", 1 << 20}}, 8);
  double const truth = 1.75 * 7e-9 * (1 << 20) + 3e-4 + 1e-7 * (1 << 17);
  CHECK(e.seconds() == Approx(truth).epsilon(0.15));
}
