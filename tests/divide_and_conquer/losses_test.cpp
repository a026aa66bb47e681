// Sends real SIGKILLs during divide-and-conquer; the solution must not change. A run counts only if a loss
// was noticed and another rank did the lost rank's remaining work.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string command(std::string const& when, std::string const& kind, std::string const& source) {
  return std::string(SKEL_LOSSES) + " " + when + " " + kind + " " + source;
}

void survives_roots(std::string const& when, std::string const& kind, std::string const& source,
                    std::uint64_t seed, int ranks = 4) {
  test::survives_roots(command(when, kind, source), when, seed, ranks);
}

}  // namespace

TEST_CASE("the solution survives a rank killed at random, in every kind that tolerates losses") {
  test::survives(command("random", "hypercube", "root"), 1);
  test::survives(command("random", "hypercube", "replicated"), 2, 5);
  test::survives(command("random", "tree", "root"), 3, 3);
}

TEST_CASE("the solution survives a rank killed while it divides, solves or combines") {
  test::survives(command("divide", "tree", "root"), 1);  // rank 2 divides, so other ranks depend on it
  test::survives(command("conquer", "hypercube", "root"), 2);
  test::survives(command("combine", "hypercube", "replicated"), 1);
}

TEST_CASE("the solution survives the loss of two ranks at once, and of all but the root") {
  test::survives(command("two", "hypercube", "root"), 1, 5);
  test::survives(command("all", "tree", "root"), 2);
  test::survives(command("all", "hypercube", "replicated"), 3);
}

TEST_CASE("every survivor throws within the time-out when the only copy of a part is lost") {
  constexpr double time_out = 2, busy_machine = 5;  // seconds
  struct part {
    std::string kind, source;
  };
  auto const only = GENERATE(part{"embarrassing", "own"}, part{"distributed", "replicated"});
  auto const e = test::run_with_deaths(command("conquer", only.kind, only.source) + " 2", 4);
  CAPTURE(only.kind, e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::any_of(e.errors.begin(), e.errors.end(), [](std::string const& line) {
    return line.find("lost rank 3, which held data that no other rank has") != std::string::npos;
  }));
  CHECK(e.out.size() == 3);
  for (int const rank : {0, 1, 2}) {
    auto const told = "rank " + std::to_string(rank) + " lost rank 3 after ";
    auto const line = std::find_if(e.out.begin(), e.out.end(),
                                   [&](std::string const& text) { return text.starts_with(told); });
    INFO(told);
    REQUIRE(line != e.out.end());
    CHECK(std::stod(line->substr(told.size())) < time_out + busy_machine);
  }
}

namespace {

// Checks that the `left` survivors all blame the problem of `group`, and that the next call works.
void blames(std::string const& arguments, int ranks, std::string const& group, long left) {
  auto const e = test::run_with_deaths(std::string(SKEL_LOSSES) + " poison " + arguments, ranks);
  CAPTURE(arguments, ranks, e.out, e.errors);
  CHECK(e.code == 0);
  auto const blame = ": the problem of " + group + " was running on each of the lost ranks ";
  long found = 0;
  for (auto const& line : e.out)  // MPICH's launcher may join the lines of two ranks
    for (auto at = line.find(blame); at != std::string::npos; at = line.find(blame, at + 1)) ++found;
  CHECK(found == left);
  CHECK(std::count_if(e.out.begin(), e.out.end(),
                      [](std::string const& line) { return line.starts_with("right, lost, before "); }) == 1);
}

}  // namespace

TEST_CASE("a problem that kills the ranks that work on it is blamed after two takeovers") {
  blames("tree root conquer", 5, "rank 3", 2);
  blames("hypercube root conquer", 4, "rank 2", 1);
  blames("hypercube replicated conquer", 6, "rank 4", 3);
  blames("tree root divide", 4, "ranks 2 to 3", 1);
  blames("embarrassing replicated combine", 5, "ranks 3 to 4", 2);
}

TEST_CASE("the root does not work on a deadly problem, even if no other rank is left") {
  blames("tree root conquer", 3, "rank 2", 1);
  blames("tree root combine", 4, "ranks 2 to 3", 1);
}

TEST_CASE("ranks that work on a deadly problem at the same time are lost together") {
  blames("hypercube replicated divide", 5, "ranks 3 to 4", 1);
  blames("hypercube root combine", 4, "ranks 2 to 3", 1);
}

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  survives_roots("root", "hypercube", "root", 1);
  survives_roots("root", "tree", "root", 2);
  survives_roots("root", "embarrassing", "replicated", 3);
  survives_roots("successor", "hypercube", "replicated", 4);
  survives_roots("root+1", "tree", "root", 5, 5);
}

TEST_CASE("a long campaign, if SKEL_LONG is set") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (std::uint64_t i = 0; i < 200; ++i) {
    char const* const roots[] = {"root", "root+1", "successor"};
    if (i % 4 == 0)
      survives_roots(roots[i / 4 % 3], i % 3 == 0 ? "tree" : "hypercube", "root", 100 + i,
                     4 + static_cast<int>(i % 3));
    test::survives(command(i % 2 == 0   ? "random"
                           : i % 4 == 1 ? "two"
                                        : "all",
                           i % 3 == 0 ? "tree" : "hypercube", i % 5 == 0 ? "replicated" : "root"),
                   100 + i, 3 + static_cast<int>(i % 4));
  }
}
