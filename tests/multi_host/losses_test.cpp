// Real SIGKILLs during multi_host: the output is the same. A run counts only if a loss was detected, and
// pieces or a share went to another rank.
#include <algorithm>

#include "catch.hpp"
#include "mpi/survivors.hpp"

TEST_CASE("a worker is killed while it processes, a host while it reads or hands out pieces") {
  test::survives(test::in_groups("process", 4), 1);  // one group: the others are workers
  test::survives(test::in_groups("read", 2), 1);     // rank 2 leads
  test::survives(test::in_groups("cut", 1), 1);      // every rank leads
}

TEST_CASE("ranks killed at random: one, two at once, all but the root") {
  test::survives(test::in_groups("random", 2), 2, 5);
  test::survives(test::in_groups("two", 3), 3, 6);
  test::survives(test::in_groups("all", 2), 4);
}

TEST_CASE("the loss of the root ends every survivor with one line and exit code 1") {
  auto const e = test::run_with_deaths(test::in_groups("root", 1) + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_group_losses: lost the root (rank 0)") == 2);
}

TEST_CASE("a long campaign, on request") { test::campaign_in_groups(150); }
