// A rank dies in each phase of a job: the others end within a bounded time, with the cause in one line.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "survivors.hpp"

namespace {

// The limit allows for a busy machine. A named cause shows that no rank gave up after 60 s without one.
test::ended run(std::string const& where, int rank, char const* suspect_after,
                std::string const& environment = {}) {
  return test::shell(environment + " SKEL_THREADS=1 SKEL_SUSPECT_AFTER=" + suspect_after + " timeout 300 " +
                     SKEL_MPIEXEC_SCRIPT + " -n 4 --oversubscribe " + SKEL_LOSSES + " " +
                     std::to_string(rank) + " " + where);
}

std::ptrdiff_t lines_with(test::ended const& e, std::string const& text) {
  return std::count_if(e.errors.begin(), e.errors.end(),
                       [&](auto const& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a rank dies while the others are inside MPI_Init or construct the context: the job starts again") {
  for (auto const* where : {"main", "init", "initialised", "dup", "gather", "barrier"})
    for (int const rank : {0, 2}) {
      INFO(where << ", rank " << rank);
      test::temporary_directory const folder;
      auto const e = run(where, rank, "5s", "PHASES_STARTED=" + folder.file("started"));
      CAPTURE(e.out, e.errors);
      CHECK(e.code == 0);  // skel-mpiexec has started the job again
      CHECK(e.out == std::vector<std::string>{"right, lost, again 0"});
      CHECK(lines_with(e, "mpi_phases: ") == 1);
      CHECK(lines_with(e, "died before all ranks had started") == 1);
      if (std::string(where) != "main") CHECK(lines_with(e, "rank " + std::to_string(rank) + " died") == 1);
    }
}

TEST_CASE("a rank dies after its farewell") {
  for (int i = 0; i < 3; ++i) {  // MPI_Finalize hangs in half of the runs
    auto const e = run("bye", 1, "3s");
    CAPTURE(e.out, e.errors);
    CHECK(e.code == 0);
    REQUIRE(e.out.size() == 1);
    // The root may hear of the loss before it describes the call.
    CHECK((e.out[0] == "right, lost, again 0" || e.out[0] == "right, lost 1, again 0"));
  }
}

TEST_CASE("no rank waits forever after the farewell") {
  for (auto const* where : {"free", "finalize"}) {
    INFO(where);
    auto const e = run(where, 1, "3s");
    CAPTURE(e.out, e.errors);
    CHECK(e.code == 0);
    CHECK(e.out == std::vector<std::string>{"right, lost, again 0"});
    CHECK(lines_with(e, "a rank died after the run had ended") == 1);
  }
}

TEST_CASE("MPI crashes in MPI_Finalize, after the results") {
  auto const e = run("crash", 0, "3s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  CHECK(e.out == std::vector<std::string>{"right, lost, again 0"});
  CHECK(lines_with(e, "the run was complete, but MPI crashed in MPI_Finalize") == 1);
}

TEST_CASE("a call of MPI that never returns ends its rank, and the others continue") {
  auto const e = run("spin", 2, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 1);
  CHECK(e.out[0].starts_with("right, lost 2, again "));
  CHECK(lines_with(e, "rank 2 has been inside one call of MPI for") == 1);
}

TEST_CASE("a root that is stuck in a call of MPI ends, and the others go on without it") {
  auto const e = run("spin", 0, "1s");
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  CHECK(e.out == std::vector<std::string>{"right, lost, again 0, attempt 2"});
  CHECK(lines_with(e, "rank 0 has been inside one call of MPI for") == 1);
}

TEST_CASE("a message that comes with an error, and whose request stays, is received") {
  for (int const rank : {0, 2}) {
    auto const e = run("pending", rank, "5s");
    CAPTURE(rank, e.out, e.errors);
    CHECK(e.code == 0);
    CHECK(e.out == std::vector<std::string>{"right, lost, again 0"});
    CHECK(lines_with(e, "mpi_phases: ") == 0);
  }
}
