// Real SIGKILLs while ranks search a tree: the count is exact. A run counts only if a loss was seen with
// loans unpaid.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "shell.hpp"

namespace {

test::ended start(std::string const& when, std::uint64_t seed, int ranks,
                  char const* suspect_after = "500ms") {
  return test::shell(std::string("SKEL_THREADS=1 SKEL_SUSPECT_AFTER=") + suspect_after + " timeout 50 " +
                     SKEL_MPIEXEC_SCRIPT + " -n " + std::to_string(ranks) + " --oversubscribe " +
                     SKEL_STEAL_LOSSES + " " + when + " " + std::to_string(seed));
}

bool says(std::string const& line, std::string const& what) { return line.find(what) != std::string::npos; }

// Until a loss was seen with loans unpaid: a rank may die when all is done.
void survives(char const* when, std::uint64_t seed, int ranks = 4) {
  for (int attempt = 0; attempt < 5; ++attempt, seed += 1000) {
    INFO(when << ", seed " << seed << ", " << ranks << " ranks");
    auto const e = start(when, seed, ranks);
    CAPTURE(e.out, e.errors);
    REQUIRE(e.code == 0);
    REQUIRE(e.out.size() == 2);
    CHECK(e.out[0].starts_with("right, lost"));
    CHECK(e.out[1].starts_with("right, lost"));
    if (!says(e.out[0], "lost,") && !says(e.out[0], "again 0")) return;
  }
  FAIL("nobody was lost in time: " << when);
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
  auto const e = start("root", 1, 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_steal_losses: lost the root (rank 0)") == 2);
}

TEST_CASE("false suspicions cost work and never a count") {
  auto const e = start("never", 1, 6, "20ms");
  CAPTURE(e.out, e.errors);
  // The root may be taken for lost, too; what counts is that nothing hangs and nothing is wrong.
  for (auto const& line : e.out) CHECK(line.starts_with("right, lost"));
  if (e.code == 0) CHECK(e.out.size() == 2);
}

TEST_CASE("a long campaign, when asked for") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (std::uint64_t i = 0; i < 200; ++i)
    survives(i % 2 == 0 ? "random" : i % 4 == 1 ? "two" : "all", 100 + i);
}
