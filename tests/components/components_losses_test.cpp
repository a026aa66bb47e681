// Ranks are killed by SIGKILL while files are read and components found: another rank reads their
// shares again.
#include "mpi/survivors.hpp"

TEST_CASE("another rank reads the share of a lost rank, of any kind of file") {
  for (std::string const name : {"l.el", "l.el.gz"})
    for (std::string const when : {"read", "solve"})
      test::survives(std::string(SKEL_LOSSES) + " " + when + " " + name, 1);
}

TEST_CASE("the others begin again when the root is killed") {
  for (std::string const when : {"root-read", "root-solve"})
    test::survives_roots(std::string(SKEL_LOSSES) + " " + when + " l.el.gz", "root", 1);
}
