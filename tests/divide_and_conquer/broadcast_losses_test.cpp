// Real SIGKILLs while a broadcast travels: every survivor has all bytes. A run counts only if whoever was
// lost had not done its part.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string command(std::string const& how, std::string const& when) {
  return std::string(SKEL_LOSSES) + " " + how + " " + when;
}

}  // namespace

TEST_CASE("a rank killed while a broadcast travels") { test::survives(command("alone", "random"), 1); }

TEST_CASE("all but the root killed while it travels") { test::survives(command("alone", "all"), 3, 3); }

TEST_CASE("killed while it travels beside a farm") { test::survives(command("beside", "random"), 4); }

TEST_CASE("the loss of the root ends every survivor with one line and exit code 1") {
  auto const e = test::run_with_deaths(command("alone", "root") + " 1", 3, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_broadcast_losses: lost the root (rank 0)") == 2);
}
