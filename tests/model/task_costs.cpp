// Costs of tasks that were observed, and draws from them.
#include "tools/model/task_costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catch.hpp"

using skel::model::observed_costs;
using skel::model::pareto_tail;

namespace {

observed_costs observed(std::vector<double> const& seconds) {
  observed_costs c;
  for (double const s : seconds) c.add(s, 1);
  c.finish();
  return c;
}

// The quantiles of n equal shares.
template <class F>
std::vector<double> quantiles(int n, F const& quantile) {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all.push_back(quantile((i + 0.5) / n));
  return all;
}

double mean(std::vector<double> const& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

}  // namespace

TEST_CASE("a tail is fitted to its own quantiles") {
  for (double const shape : {-0.3, 0.0, 0.25}) {
    pareto_tail const t{2, shape};
    auto const found = pareto_tail::fit(quantiles(1000, [&](double p) { return t.quantile(p); }));
    REQUIRE(found);
    CHECK(found->shape == Approx(shape).margin(0.03));
    CHECK(found->scale == Approx(2).epsilon(0.04));
  }
  CHECK_FALSE(pareto_tail::fit(std::vector<double>(30, 0.0)));
}

TEST_CASE("draws have the observed mean, and differ by what the observed tasks leave unknown") {
  auto const c = observed(quantiles(400, [](double p) { return -std::log1p(-p); }));
  CHECK(c.mean() == Approx(1).epsilon(0.01));
  std::vector<double> means;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) means.push_back(mean(c.draw(4000, seed)));
  double const of_all = mean(means);
  double variance = 0;
  for (double const m : means) variance += (m - of_all) * (m - of_all) / 299;
  CHECK(of_all == Approx(1).epsilon(0.02));
  // The variance of 4,000 tasks is 1 / 4000, that of 400 observed ones 1 / 400.
  CHECK(variance > 0.75 * (1.0 / 4000 + 1.0 / 400));
  CHECK(variance < 1.25 * (1.0 / 4000 + 1.0 / 400));
  CHECK(c.draw(10, 7) == c.draw(10, 7));
  CHECK(c.draw(10, 7) != c.draw(10, 8));
}

TEST_CASE("draws exceed the observed tasks only where a tail fits") {
  auto const heavy = quantiles(400, [](double p) { return std::pow(1 - p, -0.4); });
  auto const c = observed(heavy);
  CHECK(c.has_tail());
  auto const drawn = c.draw(100'000, 1);
  CHECK(*std::ranges::max_element(drawn) > heavy.back());
  std::vector<double> two(400, 1.0);
  for (int i = 0; i < 20; ++i) two[static_cast<std::size_t>(i) * 20] = 10;
  auto const bimodal = observed(two);
  CHECK_FALSE(bimodal.has_tail());
  for (double const x : bimodal.draw(1000, 1)) CHECK((x == 1.0 || x == 10.0));
  for (double const x : observed(std::vector<double>(400, 3.0)).draw(100, 1)) CHECK(x == 3.0);
}

TEST_CASE("a given mean replaces the observed one") {
  auto const c = observed(quantiles(50, [](double p) { return 1 + p; }));
  std::vector<double> means;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) means.push_back(mean(c.draw(1000, seed, 6.0)));
  CHECK(mean(means) == Approx(6).epsilon(0.01));
}

TEST_CASE("tasks of one span stay together") {
  observed_costs c;
  c.add(4, 4);
  c.add(20, 4);
  c.add(1, 0);  // no task
  c.finish();
  CHECK(c.mean() == Approx(3));
  auto const drawn = c.draw(10, 1);
  REQUIRE(drawn.size() == 10);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(drawn[i] == drawn[i / 4 * 4]);
    CHECK((drawn[i] == 1.0 || drawn[i] == 5.0));
  }
}
