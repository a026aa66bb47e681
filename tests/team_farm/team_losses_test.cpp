// Real SIGKILLs of ranks in teams; see team_losses.cpp.
#include <cstdlib>
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

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  test::survive_roots_in_groups("root", 2, 1);
  test::survive_roots_in_groups("root", 0, 2, 5);
  test::survive_roots_in_groups("successor", 2, 3, 5);
  test::survive_roots_in_groups("root+1", 3, 4, 5);
}

TEST_CASE("a time limit ends ranks whose own MPI calls wait for a lost rank") {
  // With ULFM, there are no communicators of new teams after a loss (docs/reference/teams.md).
  ::setenv("SKEL_ULFM", "no", 1);
  survives("mpi", 2, 9, 5);
  ::unsetenv("SKEL_ULFM");
}

TEST_CASE("with ULFM, no rank is lost when one throws while its team waits in MPI") {
  auto const e = test::run_with_deaths(test::in_groups("throws", 2) + " 1", 5);
  CAPTURE(e.out, e.errors);
  REQUIRE(e.code == 0);
  REQUIRE(e.out.size() == 2);
  bool const ulfm =
      test::shell(std::string(SKEL_MPIEXEC_SCRIPT) + " --explain -n 1 true | grep -q -- '--with-ft ulfm'")
          .code == 0;
  // Elsewhere, the other rank of the team ends after the time limit.
  CHECK(e.out[0].starts_with(ulfm ? "right, lost," : "right, lost "));
  CHECK(e.out[1].starts_with("right, lost"));
}

TEST_CASE("false suspicions of ranks in teams are harmless") {
  test::survives_suspicions(test::in_groups("never", 2) + " 1");
}

TEST_CASE("a long campaign of teams, if SKEL_LONG is set") { test::campaign_in_groups(50); }
