// Sends real SIGKILLs during a broadcast; every survivor must receive all bytes. A run counts only if the
// lost ranks had not finished their part.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string command(std::string const& how, std::string const& when) {
  return std::string(SKEL_LOSSES) + " " + how + " " + when;
}

}  // namespace

TEST_CASE("a broadcast survives the loss of a rank") { test::survives(command("alone", "random"), 1); }

TEST_CASE("a broadcast survives the loss of all ranks but the root") {
  test::survives(command("alone", "all"), 3, 3);
}

TEST_CASE("a broadcast beside a farm survives the loss of a rank") {
  test::survives(command("beside", "random"), 4);
}

TEST_CASE("every survivor of the root's loss exits with one line and code 1") {
  auto const e = test::run_with_deaths(command("alone", "root") + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_broadcast_losses: lost the root (rank 0)") == 2);
}
