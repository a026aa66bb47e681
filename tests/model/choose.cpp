#include "model/choose.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"

using namespace skel::model;

namespace {

template <class Cost>
std::vector<observation> grid(Cost const& cost, double noise, std::uint64_t seed) {
  test::dice dice(seed);
  std::vector<observation> all;
  for (double n = 1 << 8; n <= 1 << 16; n *= 4)
    for (double m = 1 << 8; m <= 1 << 16; m *= 4)
      for (int r = 0; r < 2; ++r)
        all.push_back({{{"N", n}, {"M", m}}, cost(n, m) * (1 + noise * dice.normal()), "s"});
  return all;
}

std::string chosen(std::vector<observation> const& samples) {
  return to_string(choose_functions("x", samples).front().basis);
}

}  // namespace

TEST_CASE("unused variables are named") {
  auto const linear = [](double n, double) { return 1e-3 + 1e-6 * n; };
  auto all = grid(linear, 0, 1);
  CHECK(variables_left_out(all).empty());
  for (auto& o : all) {
    o.at["shift"] = 0;              // constant
    o.at["tasks"] = 3 * o.at["N"];  // the size of a run is often proportional to that of the problem
    o.at["rows"] = o.at["N"] / 2;
  }
  auto const copies = variables_left_out(all);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0] ==
        "rows is not used: it is proportional to N in all samples, so their costs cannot be distinguished");
  all = grid(linear, 0, 1);
  all[3].where = "s.csv:5";
  all[3].at.erase("M");
  all[4].where = "s.csv:6";
  all[4].at["N"] = 0;
  auto const holes = variables_left_out(all);
  REQUIRE(holes.size() == 2);
  CHECK(holes[0] == "M is not used: s.csv:5 has no value of at least 0");
  CHECK(holes[1] == "N is not used: s.csv:6 has value 0");
}

TEST_CASE("the true functions are found") {
  CHECK(chosen(grid([](double n, double) { return 1e-3 + 1e-6 * n * std::log2(n); }, 0.01, 1)) ==
        "1 + N*log(N)");
  CHECK(chosen(grid([](double, double m) { return 1e-3 + 1e-9 * m * m; }, 0.01, 2)) == "1 + M^2");
  CHECK(chosen(grid([](double n, double m) { return 1e-4 + 1e-8 * n * m; }, 0.01, 3)) == "1 + M*N");
  CHECK(chosen(grid([](double n, double) { return 13 + 4 * n; }, 1e-6, 4)) ==
        "1 + N");  // bytes: no more terms
}

TEST_CASE("sums of two functions are found in samples without noise") {
  auto const functions = parse_basis("log(N) + sqrt(N) + N + N*log(N) + N^1.5 + N^2 + N^3");
  constexpr double middle = 1e4;
  for (std::size_t i = 0; i < functions.size(); ++i)
    for (std::size_t j = i + 1; j < functions.size(); ++j) {
      std::vector<basis_function> const law{functions[i], functions[j]};
      std::vector<observation> samples;
      for (double n = 1000; n <= 64000; n *= 2) {
        double value = 0;
        for (auto const& f : law) value += f({{"N", n}}) / f({{"N", middle}});
        samples.push_back({{{"N", n}}, value, "s"});
      }
      CHECK(chosen(samples) == to_string(law));
    }
}

TEST_CASE("sums are found of which no function explains much alone") {
  auto const product = [](double n, double m) { return 2e-7 * n + 1e-11 * n * m; };
  CHECK(chosen(grid(product, 0, 1)) == "M*N + N");
  auto const sum = [](double n, double m) { return 1e-3 + 1e-7 * n + 1e-7 * m; };
  CHECK(chosen(grid(sum, 0, 1)) == "1 + M + N");
  CHECK(chosen(grid(sum, 0.01, 1)) == "1 + M + N");
}

TEST_CASE("the weights of functions that explain the samples as well add up to 1") {
  test::dice dice(7);
  std::vector<observation> samples;
  for (double n = 1000; n <= 64000; n *= 2)
    samples.push_back({{{"N", n}}, (1e-6 * n + 1e-10 * n * n) * (1 + 0.05 * dice.normal()), "s"});
  auto const found = choose_functions("x", samples);
  REQUIRE(found.size() > 1);
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    sum += found[i].weight;
    if (i > 0) CHECK(found[i].weight <= found[i - 1].weight);
  }
  CHECK(sum == Approx(1));
}

TEST_CASE("variables that the samples hardly show are named") {
  std::vector<observation> samples;
  for (double n = 1000; n <= 8000; n *= 2)
    for (double m = 1; m <= 2; ++m) samples.push_back({{{"N", n}, {"M", m}}, 1e-6 * n, "s"});
  auto const found = variables_in_doubt(samples, parse_basis("1 + M"));
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "M has only 2 values in the samples (1 and 2), expected at least 3");
  CHECK(found[1] == "no function depends on N, which the samples vary from 1000 to 8000");
}

TEST_CASE("irrelevant variables are not chosen") {
  int constants = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    constants += chosen(grid([](double, double) { return 1.0; }, 0.1, seed)) == "1";
  CHECK(constants >= 8);
}

TEST_CASE("the number of ranks may be a divisor") {
  std::vector<observation> samples;
  test::dice dice(5);
  for (double p = 1; p <= 64; p *= 2)
    for (double n = 1000; n <= 64000; n *= 4)
      samples.push_back({{{"N", n}, {"P", p}}, (1e-4 + 1e-6 * n / p) * (1 + 0.01 * dice.normal()), "s"});
  CHECK(chosen(samples) == "1 + N/P");
}

TEST_CASE("noisy samples of one and two ranks share the work unless they contradict it") {
  auto const divides = [](double speedup, double noise, bool shared_work) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      test::dice dice(seed);
      std::vector<observation> all;
      for (double p = 1; p <= 2; ++p)
        for (double n = 1000; n <= 4000; n *= 2)
          all.push_back({{{"N", n}, {"P", p}},
                         1e-6 * n / (p == 1 ? 1 : speedup) * std::exp(noise * dice.normal()),
                         "s"});
      auto const best = choose_functions("x", all, {}, shared_work).front();
      for (auto const& f : best.basis)
        found += std::ranges::find(f.factors, factor{"P", -1, 0}) != f.factors.end() ? 1 : 0;
    }
    return found;
  };
  CHECK(divides(2, 0.3, false) < 15);
  CHECK(divides(2, 0.3, true) == 20);
  CHECK(divides(1, 0.05, true) <= 1);  // six samples with noise
  CHECK(divides(1, 0.02, true) == 0);
}

TEST_CASE("too few samples or too many variables are refused") {
  std::vector<observation> few(4, {{{"N", 1}}, 1, "s"});
  CHECK(test::error_text<skel::usage_error>([&] { (void)choose_functions("divide", few); }) ==
        "divide: 4 samples, expected at least 5 to choose a basis; or give one with --basis");
  std::vector<observation> wide;
  for (int i = 1; i <= 9; ++i)
    wide.push_back(
        {{{"A", i}, {"B", i * i}, {"C", 9 - i * 0.5}, {"D", i % 3 + 1}, {"E", i % 2 + 1}}, 1.0 * i, "s"});
  CHECK(test::error_text<skel::usage_error>([&] {
          (void)choose_functions("divide", wide);
        }).starts_with("divide: 5 variables differ ( A B C D E )"));
}

TEST_CASE("the largest configurations are held out") {
  std::vector<observation> samples;
  // The last third costs twice as much.
  for (int i = 1; i <= 9; ++i)
    for (int r = 0; r < 2; ++r) samples.push_back({{{"N", i}}, i > 6 ? 2.0 * i : 1.0 * i, "s"});
  auto const h = hold_out(samples, [](auto some) { return fit("x", some, parse_basis("1 + N")); });
  REQUIRE(h);
  CHECK(h->fitted == 12);
  CHECK(h->predicted == 6);
  CHECK(h->median == Approx(0.5));
  samples.resize(6);
  CHECK_FALSE(hold_out(samples, [](auto some) { return fit("x", some, parse_basis("1 + N")); }));
}

TEST_CASE("repetitions show the noise") {
  std::vector<observation> samples{
      {{{"N", 1}}, 0.9, ""}, {{{"N", 1}}, 1.0, ""}, {{{"N", 1}}, 1.3, ""}, {{{"N", 2}}, 5.0, ""}};
  auto const n = noise_of(samples);
  REQUIRE(n);
  CHECK(n->configurations == 1);
  CHECK(n->samples == 3);
  CHECK(n->median == Approx(0.1));
  CHECK_FALSE(noise_of(std::span(samples).subspan(3)));
}
