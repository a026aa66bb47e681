// Real SIGKILLs of ranks in teams; see team_losses.cpp.
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {
void survives(std::string const& when, int size, std::uint64_t seed, int ranks) {
  test::survives(test::in_groups(when, size), seed, ranks);
}
}  // namespace

TEST_CASE("a rank of a team killed at random, or in its second task") {
  survives("random", 2, 1, 4);
  survives("random", 3, 2, 5);
  survives("random", 0, 3, 6);
  survives("first", 2, 4, 4);
  survives("first", 4, 5, 4);
}

TEST_CASE("two ranks at once, and all but the root, in teams") {
  survives("two", 2, 6, 5);
  survives("two", 0, 7, 6);
  survives("all", 2, 8, 4);
}

TEST_CASE("a time limit ends ranks whose own MPI calls wait for a lost rank") { survives("mpi", 2, 9, 5); }

TEST_CASE("false suspicions of ranks in teams are harmless") {
  test::survives_suspicions(test::in_groups("never", 2) + " 1");
}

TEST_CASE("a long campaign of teams, if SKEL_LONG is set") { test::campaign_in_groups(50); }
