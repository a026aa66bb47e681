// Real SIGKILLs during multi_host: the output is the same. A run counts only if a loss was seen, and pieces
// or a share went to another rank.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "survivors.hpp"

namespace {

std::string command(std::string const& when, int size) {
  return std::string(SKEL_LOSSES) + " " + when + " " + std::to_string(size);
}

}  // namespace

TEST_CASE("a slave is killed while it processes, a host while it reads or gives") {
  test::survives(command("process", 4), 1);  // one group: the others are slaves
  test::survives(command("read", 2), 1);     // rank 2 leads
  test::survives(command("cut", 1), 1);      // every rank leads
}

TEST_CASE("ranks killed at random: one, two at once, all but the root") {
  test::survives(command("random", 2), 2, 5);
  test::survives(command("two", 3), 3, 6);
  test::survives(command("all", 2), 4);
}

TEST_CASE("the loss of the root ends every survivor with one line and exit code 1") {
  auto const e = test::run_with_deaths(command("root", 1) + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_group_losses: lost the root (rank 0)") == 2);
}

TEST_CASE("a long campaign, when asked for") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (int i = 0; i < 150; ++i)
    test::survives(command(i % 3 == 0   ? "random"
                           : i % 3 == 1 ? "two"
                                        : "all",
                           i % 5),
                   100 + static_cast<std::uint64_t>(i), 3 + i % 5);
}
