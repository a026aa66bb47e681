// Ranks are killed by SIGKILL while files are read and components found: another rank reads their
// shares again.
#include "mpi/survivors.hpp"

TEST_CASE("another rank reads the share of a lost rank, of any kind of file") {
  for (std::string const name : {"l.el", "l.el.gz"})
    for (std::string const when : {"read", "solve"})
      test::survives(std::string(SKEL_LOSSES) + " " + when + " " + name, 1);
}
