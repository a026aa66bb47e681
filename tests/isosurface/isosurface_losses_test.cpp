// Real SIGKILLs while surfaces are made: the mesh is the same.
#include <string>

#include "../mpi/survivors.hpp"

namespace {

std::string command(std::string const& when, int size) {
  return std::string(SKEL_LOSSES) + " " + when + " " + std::to_string(size);
}

}  // namespace

TEST_CASE("a slave is killed while it processes, a host while it reads; all but the root") {
  test::survives(command("process", 4), 1);
  test::survives(command("read", 2), 2);
  test::survives(command("all", 2), 4);
}
