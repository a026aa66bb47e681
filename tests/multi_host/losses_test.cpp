// Real SIGKILLs during multi_host: the output is the same. A run counts only if a loss was detected, and
// pieces or a share went to another rank.
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

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  for (int const size : {1, 2, 4}) test::survive_roots_in_groups("root", size, 1);
  test::survive_roots_in_groups("successor", 2, 2);
  test::survive_roots_in_groups("root+1", 2, 3, 5);
}

TEST_CASE("a long campaign, on request") { test::campaign_in_groups(150); }
