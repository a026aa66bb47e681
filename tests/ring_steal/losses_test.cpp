// Sends real SIGKILLs while ranks search a tree; the count must be exact. A run counts only if a loss was
// noticed while loans were unpaid.
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"
#include "observe/support.hpp"

namespace {

std::string command(char const* when) { return std::string(SKEL_LOSSES) + " " + when; }

void survives(char const* when, std::uint64_t seed, int ranks = 4) {
  test::survives(command(when), seed, ranks);
}

}  // namespace

TEST_CASE("the count survives a rank killed at random, in its first task or after many") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) survives("random", seed);
  survives("first", 1);
  survives("many", 1, 3);
}

TEST_CASE("the count survives the loss of two ranks at once, and of all but the root") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    survives("two", seed);
    survives("all", seed);
  }
}

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  test::temporary_directory const d;
  test::own_hosts const names;
  auto const own_disks = " ranks:" + d.file("%r");
  for (auto const& store : {std::string(" memory"), " " + d.file(""), own_disks})
    test::survives_roots(command("root") + store, "root", 1);
  test::survives_roots(command("successor") + own_disks, "successor", 4);
  test::survives_roots(command("root+1"), "root+1", 5, 5);
}

TEST_CASE("false suspicions cost work but never change the count") {
  test::survives_suspicions(command("never") + " 1");
}

TEST_CASE("a long campaign, if SKEL_LONG is set") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (std::uint64_t i = 0; i < 200; ++i) {
    survives(i % 2 == 0 ? "random" : i % 4 == 1 ? "two" : "all", 100 + i);
    auto const* const roots = i % 3 == 0 ? "root" : i % 3 == 1 ? "root+1" : "successor";
    if (i % 4 == 0) test::survives_roots(command(roots), roots, 100 + i, 4 + static_cast<int>(i % 3));
  }
}
