// The farm's protocol with events in random order and every kind of failure.
#include "harness.hpp"

#include <cstdio>

#include "catch.hpp"

using harness_common::runs_wanted;
using harness_common::try_many;

TEST_CASE("farms end correctly in random orders of events", "[random]") {
  try_many("any", farm_harness::random_scenario, 1, runs_wanted(10000));
}

TEST_CASE("farms survive the death of any ranks but the root", "[deaths]") {
  try_many("deaths", farm_harness::death_scenario, 1000000007, runs_wanted(12000));
}

TEST_CASE("farms resume earlier runs", "[deaths]") {
  try_many("resumed", farm_harness::resumed_scenario, 31, runs_wanted(8000));
}

TEST_CASE("failed tasks run again elsewhere, or are left out", "[errors]") {
  try_many("failing", farm_harness::failing_scenario, 5, runs_wanted(12000));
}

TEST_CASE("tasks that kill every rank that runs them are named", "[deaths]") {
  try_many("poison", farm_harness::poison_scenario, 3, runs_wanted(8000));
  // If all messages of dead ranks arrive and the root does not run the task first, the task is always named.
  int runs = 0;
  for (std::uint64_t seed = 1; seed <= test::fewer_if_slow(3000); ++seed) {
    auto const s = farm_harness::poison_scenario(seed);
    bool const enough = s.ranks >= 5 && s.most_losses <= 2 && s.poison.size() == 1;
    if (!enough || s.on_error.goes_on() || !s.last_words || !s.root_serves || s.suspicions > 0 ||
        s.policy.copies)
      continue;
    ++runs;
    INFO(s.describe());
    CHECK(farm_harness::run(s).blamed);
  }
  std::printf("%d runs name the task\n", runs);
  CHECK(runs > 0);
}

TEST_CASE("ranks that die for unrelated reasons, while tasks may be blamed", "[deaths]") {
  try_many("blaming", farm_harness::blaming_scenario, 17, runs_wanted(8000));
}

TEST_CASE("audits find a rank whose results are wrong, and no other", "[audits]") {
  try_many("audited", farm_harness::audited_scenario, 9, runs_wanted(12000));
}

TEST_CASE("cancelled tasks have no result, and every other one has", "[steered]") {
  try_many("steered", farm_harness::steered_scenario, 13, runs_wanted(12000));
}

TEST_CASE("tasks that a rank does not run together begin one after the other, or elsewhere", "[needs]") {
  try_many("crowded", farm_harness::crowded_scenario, 19, runs_wanted(12000));
}

TEST_CASE("64 ranks on the ring, up to 16 of them dying", "[deaths]") {
  try_many("ring of 64", farm_harness::wide_ring_scenario, 77, runs_wanted(1000) / 10);
}
