// Ranks are killed by SIGKILL while surfaces are made: the mesh is the same.
#include "../mpi/survivors.hpp"

TEST_CASE("a worker is killed while processing, a host while reading; all ranks but the root") {
  test::survives(test::in_groups("process", 4), 1);
  test::survives(test::in_groups("read", 2), 2);
  test::survives(test::in_groups("all", 2), 4);
}

TEST_CASE("the others begin again when the root is killed, and then its successor") {
  test::survive_roots_in_groups("root", 1, 1);
  test::survive_roots_in_groups("root", 2, 2);
  test::survive_roots_in_groups("successor", 2, 3);
}

TEST_CASE("a host is killed while it writes a part: the same files, and none besides") {
  test::survives(test::in_groups("write", 1), 1);
  test::survives(test::in_groups("write", 2), 4);
}

TEST_CASE("a long campaign, if requested") { test::campaign_in_groups(100); }
