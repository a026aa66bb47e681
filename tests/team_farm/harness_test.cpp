// Runs the roles of a farm of teams with events in random order and every kind of failure.
#include "harness.hpp"

#include <cstdio>

#include "catch.hpp"
#include "fewer.hpp"

using harness_common::runs_wanted;
using harness_common::try_many;

TEST_CASE("teams run every task once in every order of events", "[random]") {
  try_many("any", team_harness::random_scenario, 1, runs_wanted(12000));
}

TEST_CASE("a farm of teams survives the death of any ranks but the root", "[deaths]") {
  try_many("deaths", team_harness::death_scenario, 1000000007, runs_wanted(10000));
}

TEST_CASE("a task that kills a rank of every team is blamed", "[deaths]") {
  try_many("poison", team_harness::poison_scenario, 3, runs_wanted(6000));
}

TEST_CASE("a poisonous task costs max_losses_per_task ranks", "[deaths]") {
  std::uint64_t const runs = test::fewer_if_slow(3000);
  std::uint64_t blamed = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    auto const s = team_harness::poison_scenario(seed);
    if (s.deaths > 0) continue;
    INFO(s.describe());
    team_harness::world w(s);
    std::mt19937_64 dice(s.seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    w.settle(dice);
    w.check_end();
    CHECK(w.poisoned() <= s.most_losses);
    blamed += w.blamed() || w.poisoned() == s.most_losses ? 1 : 0;
  }
  std::printf("%llu runs blame the task\n", static_cast<unsigned long long>(blamed));
  CHECK(blamed > runs / 6);
}
