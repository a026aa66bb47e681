// Real SIGKILLs while ranks search a tree: the count is exact. A run counts only if a loss was seen with
// loans unpaid.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string command(char const* when) { return std::string(SKEL_LOSSES) + " " + when; }

void survives(char const* when, std::uint64_t seed, int ranks = 4) {
  test::survives(command(when), seed, ranks);
}

}  // namespace

TEST_CASE("a rank killed at random, in its first task, after many") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) survives("random", seed);
  survives("first", 1);
  survives("many", 1, 3);
}

TEST_CASE("two ranks at once, and all but the root") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    survives("two", seed);
    survives("all", seed);
  }
}

TEST_CASE("the loss of the root ends every survivor with one line and exit code 1") {
  auto const e = test::run_with_deaths(command("root") + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_steal_losses: lost the root (rank 0)") == 2);
}

TEST_CASE("false suspicions cost work and never a count") {
  test::survives_suspicions(command("never") + " 1");
}

TEST_CASE("a long campaign, when asked for") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (std::uint64_t i = 0; i < 200; ++i)
    survives(i % 2 == 0 ? "random" : i % 4 == 1 ? "two" : "all", 100 + i);
}
