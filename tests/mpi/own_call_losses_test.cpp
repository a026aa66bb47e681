// Real SIGKILLs of the root of programs with MPI calls of their own; see own_call_losses.cpp.
#include <string>

#include "catch.hpp"
#include "survivors.hpp"

namespace {
void survives(std::string const& when, std::string const& sum, std::string const& attempt) {
  auto const e = test::run_with_deaths(std::string(SKEL_LOSSES) + " " + when, 4, "5s");
  CAPTURE(when, e.out, e.errors);
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 1);
  CHECK(e.out[0].starts_with(sum + ", right, lost, again "));
  CHECK(e.out[0].ends_with(", attempt " + attempt));
}
}  // namespace

TEST_CASE("a context that has lost its root has a communicator of the others") {
  survives("root", "7", "2");
  survives("successor", "3", "3");
}

TEST_CASE("with ULFM, a rank that waits in an MPI call of its own begins again with the others") {
  auto const how = std::string(SKEL_MPIEXEC_SCRIPT) + " --explain -n 1 true | grep -q -- '--with-ft ulfm'";
  if (test::shell(how).code != 0) return;  // elsewhere it ends after 10 s, and others wait for it in vain
  survives("waits", "7", "2");
}
