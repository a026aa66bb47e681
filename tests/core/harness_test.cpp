// The farm's protocol in random order, with everything going wrong that may.
#include "harness.hpp"

#include "catch.hpp"

namespace {

using harness_common::runs_wanted;

template <class Draw>
void try_many(char const* what, Draw draw, std::uint64_t first, std::uint64_t count) {
  harness_common::try_many(
      what, [&](std::uint64_t seed) { return harness::run(draw(seed)); }, first, count);
}

}  // namespace

TEST_CASE("farms end rightly in every order of events", "[random]") {
  try_many("any", harness::random_scenario, 1, runs_wanted(10000));
}

TEST_CASE("farms survive the death of any ranks but the root", "[deaths]") {
  try_many("deaths", harness::death_scenario, 1000000007, runs_wanted(12000));
}

TEST_CASE("farms go on with what an earlier run has left", "[deaths]") {
  try_many("resumed", harness::resumed_scenario, 31, runs_wanted(8000));
}

TEST_CASE("64 ranks on the ring, up to 16 of them dying", "[deaths]") {
  try_many("ring of 64", harness::wide_ring_scenario, 77, runs_wanted(1000) / 10);
}
