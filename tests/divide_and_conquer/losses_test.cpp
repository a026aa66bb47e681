// Real SIGKILLs during divide-and-conquer: the solution is the same. A run counts only if a loss was seen and
// another rank made what the lost one had not.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string command(std::string const& when, std::string const& kind, std::string const& source) {
  return std::string(SKEL_LOSSES) + " " + when + " " + kind + " " + source;
}

}  // namespace

TEST_CASE("a rank killed at random: every kind that can go on") {
  test::survives(command("random", "hypercube", "root"), 1);
  test::survives(command("random", "hypercube", "replicated"), 2, 5);
  test::survives(command("random", "tree", "root"), 3, 3);
}

TEST_CASE("a rank killed while it divides, solves or combines") {
  test::survives(command("divide", "tree", "root"), 1);  // rank 2: it has ranks behind it
  test::survives(command("conquer", "hypercube", "root"), 2);
  test::survives(command("combine", "hypercube", "replicated"), 1);
}

TEST_CASE("two ranks at once, and all but the root") {
  test::survives(command("two", "hypercube", "root"), 1, 5);
  test::survives(command("all", "tree", "root"), 2);
  test::survives(command("all", "hypercube", "replicated"), 3);
}

TEST_CASE("what only a lost rank had: every survivor is told, within the time-out") {
  constexpr double time_out = 0.5, busy_machine = 5;  // seconds
  struct part {
    std::string kind, source;
  };
  auto const only = GENERATE(part{"embarrassing", "own"}, part{"distributed", "replicated"});
  auto const e = test::run_with_deaths(command("conquer", only.kind, only.source) + " 2", 4, "500ms");
  CAPTURE(only.kind, e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::any_of(e.errors.begin(), e.errors.end(), [](std::string const& line) {
    return line.find("lost rank 3, and with it what no other rank had") != std::string::npos;
  }));
  CHECK(e.out.size() == 3);
  for (int const rank : {0, 1, 2}) {
    auto const told = "rank " + std::to_string(rank) + " was told of 3 after ";
    auto const line = std::find_if(e.out.begin(), e.out.end(),
                                   [&](std::string const& text) { return text.starts_with(told); });
    INFO(told);
    REQUIRE(line != e.out.end());
    CHECK(std::stod(line->substr(told.size())) < time_out + busy_machine);
  }
}

TEST_CASE("the loss of the root ends every survivor with one line and exit code 1") {
  auto const e = test::run_with_deaths(command("root", "hypercube", "root") + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_divide_losses: lost the root (rank 0)") == 2);
}

TEST_CASE("a long campaign, when asked for") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (std::uint64_t i = 0; i < 200; ++i)
    test::survives(command(i % 2 == 0   ? "random"
                           : i % 4 == 1 ? "two"
                                        : "all",
                           i % 3 == 0 ? "tree" : "hypercube", i % 5 == 0 ? "replicated" : "root"),
                   100 + i, 3 + static_cast<int>(i % 4));
}
