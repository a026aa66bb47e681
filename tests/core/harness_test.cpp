// The farm's protocol in random order, with everything going wrong that may.
#include "harness.hpp"

#include <cstdio>

#include "catch.hpp"

namespace {

template <class Draw>
void try_many(char const* what, Draw draw, std::uint64_t first, std::uint64_t count) {
  if (auto const seed = harness::seed_wanted()) {
    harness::run(draw(*seed));
    return;
  }
  std::uint64_t events = 0, deaths = 0, at_work = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto const sum = harness::run(draw(seed));
    events += sum.events;
    deaths += static_cast<std::uint64_t>(sum.deaths);
    at_work += sum.died_at_work ? 1 : 0;
  }
  std::printf("%s: %llu runs, %llu events, %llu deaths, %llu runs with a death before the last result\n",
              what, static_cast<unsigned long long>(count), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(deaths), static_cast<unsigned long long>(at_work));
}

}  // namespace

TEST_CASE("farms end rightly in every order of events", "[random]") {
  try_many("any", harness::random_scenario, 1, harness::runs_wanted(10000));
}

TEST_CASE("farms survive the death of any ranks but the root", "[deaths]") {
  try_many("deaths", harness::death_scenario, 1000000007, harness::runs_wanted(12000));
}

TEST_CASE("64 ranks on the ring, up to 16 of them dying", "[deaths]") {
  try_many("ring of 64", harness::wide_ring_scenario, 77, harness::runs_wanted(100) / 10 + 90);
}
