// The adaptive interval against the best fixed one, over failures with a Weibull distribution.
#include "checkpoint/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"

using skel::checkpoint_options;
using skel::detail::checkpoint_interval;
using skel::storage::run_history;

namespace {

constexpr double mean = 3600;  // seconds between failures

// Times from one failure to the next.
std::vector<double> failures(unsigned seed, double shape, double seconds) {
  std::mt19937_64 random(seed);
  std::weibull_distribution<double> gap(shape, mean / std::tgamma(1 + 1 / shape));
  std::vector<double> gaps;
  for (double sum = 0; sum < seconds; sum += gaps.back()) gaps.push_back(gap(random));
  return gaps;
}

// Runs until `work` seconds of work are done, each time resuming from the last checkpoint. A checkpoint
// takes `cost` seconds, and so does a resume. Returns the wasted time over the work.
double waste(std::vector<double> const& gaps, double work, double cost, checkpoint_options const& options) {
  run_history history;
  bool first = true;
  double total = 0, done = 0;
  for (double const gap : gaps) {
    checkpoint_interval every(options);
    if (!first) every.resumed(history);
    first = false;
    every.saved(cost);
    double at = cost;
    if (at < gap) history = every.history(false);  // a resumed run writes a checkpoint at its start
    while (at < gap) {
      double const left = work - done, until = at + std::min(left, every.seconds());
      if (left <= every.seconds() && until < gap) return (total + until - work) / work;
      if (until + cost >= gap) break;
      done += until - at;
      at = until + cost;
      every.ran(at);
      every.saved(cost);
      history = every.history(false);
    }
    total += gap;
  }
  FAIL("too few failures were drawn");
  return 0;
}

}  // namespace

TEST_CASE("the adaptive interval wastes at most 5 % more than the best fixed one, for 20 seeds") {
  double const shape = GENERATE(0.7, 1.0, 1.5);
  double const cost = GENERATE(1.0, 10.0);
  constexpr double work = 200 * mean;
  std::vector<std::vector<double>> gaps;
  for (unsigned seed = 1; seed <= 20; ++seed) gaps.push_back(failures(seed, shape, 3 * work));
  auto const sum = [](std::vector<double> const& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
  auto const of_seeds = [&](checkpoint_options const& options) {
    std::vector<double> all;
    all.reserve(gaps.size());
    for (auto const& g : gaps) all.push_back(waste(g, work, cost, options));
    return all;
  };
  double best = 1e9, at = 0;                           // one interval for all seeds
  std::vector<double> best_of_seed(gaps.size(), 1e9);  // and an interval for each
  for (double every = 4 * cost; every < mean; every *= 1.04) {
    checkpoint_options fixed;
    fixed.every_seconds = every;
    auto const w = of_seeds(fixed);
    if (sum(w) < best) best = sum(w), at = every;
    for (std::size_t i = 0; i < w.size(); ++i) best_of_seed[i] = std::min(best_of_seed[i], w[i]);
  }
  std::printf("| %g | %g ", shape, cost);        // a row of docs/measurements/checkpoint.md
  for (double const error : {0.25, 1.0, 4.0}) {  // of the guess
    checkpoint_options adaptive;
    adaptive.mean_seconds_between_failures = error * mean;
    auto const w = sum(of_seeds(adaptive));
    CAPTURE(shape, cost, error, at, w / best, w / sum(best_of_seed));
    CHECK(w <= 1.05 * best);
    CHECK(w <= 1.05 * sum(best_of_seed));
    std::printf("| %.2f %% ", 5 * w);
  }
  std::printf("| %.0f s | %.2f %% |\n", at, 5 * best);
}

TEST_CASE("an interval follows the cost, the given rate of failures and the observed one") {
  checkpoint_options o;
  o.mean_seconds_between_failures = 20000;
  checkpoint_interval every(o);
  CHECK(every.seconds() == 0);  // the first checkpoint shows the cost
  every.saved(1);
  double const young = std::sqrt(2.0 * 20000);
  CHECK(every.seconds() == Approx(young).epsilon(0.01));
  every.saved(1);
  CHECK(every.seconds() == Approx(young).epsilon(0.01));
  every.ran(60000);
  CHECK(every.seconds() == Approx(2 * young).epsilon(0.01));
  for (int i = 0; i < 15; ++i) every.failed();
  CHECK(every.seconds() == Approx(young / 2).epsilon(0.02));
  for (int i = 0; i < 50; ++i) every.saved(4);
  CHECK(every.seconds() == Approx(young).epsilon(0.03));
  for (int i = 0; i < 50; ++i) every.saved(1e6);
  CHECK(every.seconds() == Approx(5000));  // the mean time between failures

  auto const history = every.history(false);
  CHECK(history == run_history{60000, 15, false});
  checkpoint_interval later(o);
  later.resumed(history);
  CHECK(later.history(true) == run_history{60000, 16, true});
  checkpoint_interval orderly(o);
  orderly.resumed(later.history(true));
  CHECK(orderly.history(false) == run_history{60000, 16, false});
}

TEST_CASE("a given interval stays, and invalid options are refused") {
  checkpoint_options o;
  o.every_seconds = 3;
  checkpoint_interval every(o);
  every.saved(100);
  every.failed();
  CHECK(every.seconds() == 3);
  o.every_seconds = -1;
  CHECK_THROWS_AS(checkpoint_interval(o), skel::usage_error);
  o.every_seconds.reset();
  o.mean_seconds_between_failures = 0;
  CHECK_THROWS_WITH(checkpoint_interval(o),
                    "checkpoint: mean_seconds_between_failures is 0, expected a finite number above 0");
}
