// Real SIGKILLs while a farm merges exactly. The bytes are those of one rank, whichever rank dies, the root
// too.
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::string line_of(std::string const& arguments, int ranks) {
  auto const e = test::run_with_deaths(std::string(SKEL_LOSSES) + " " + arguments, ranks);
  CAPTURE(arguments, e.out, e.errors);
  REQUIRE(e.code == 0);
  REQUIRE(e.out.size() == 1);
  return e.out[0];
}

}  // namespace

TEST_CASE("exact merges have the same bytes whichever rank is killed, and as on one rank") {
  auto const alone = line_of("auto streamed -1", 1);
  auto const bits = alone.substr(0, 16);
  REQUIRE(alone == bits + " again 0 attempt 1");
  CHECK(line_of("auto streamed -1", 4) == alone);
  for (std::string const how :
       {"auto streamed", "guided streamed", "interleaved concentrated", "ring streamed"})
    for (std::string const victim : {"0", "1", "2", "3"}) {
      auto const expected =
          bits + (victim == "0" ? " again 0 attempt 2" : " lost " + victim + " again 1 attempt 1");
      std::string line;
      // Again if the victim has not come to its tenth task before the others had done them all.
      for (int attempt = 0; attempt < 10 && line != expected; ++attempt) {
        line = line_of(how + " " + victim, 4);
        CHECK(line.substr(0, 16) == bits);
      }
      CHECK(line == expected);
    }
}

TEST_CASE("equal calls in a loop get the results that the survivors remember of the same round") {
  auto const right = line_of("auto loop -1", 1).substr(0, 16);
  for (int const ranks : {1, 2, 4}) CHECK(line_of("auto loop -1", ranks) == right + " attempt 1");
  for (std::string const how : {"auto", "guided"})
    for (int const ranks : {2, 3}) CHECK(line_of(how + " loop 0", ranks) == right + " attempt 2");
}
