// docs/reference/failure-contract.md, seen from outside: exit codes of all ranks, lines on standard error.
// A rank that hangs is ended by timeout, with another exit code.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "observe/support.hpp"
#include "shell.hpp"

namespace {

using test::ended;
using test::shell;

std::string const mpiexec = "timeout 200 " SKEL_MPIEXEC " ";
std::string const program = SKEL_MISBEHAVE;
bool const hydra = test::contains(SKEL_MPIEXEC, "mpich") || test::contains(SKEL_MPIEXEC, "hydra");
// Each rank prints its exit code. The shell itself exits with 0, so that mpiexec does not kill the others. It
// outlives them: MPICH 4.0's launcher loses what the last ones print when the first has ended without
// MPI_Finalize.
std::string const saying =
    std::string(" sh -c '\"$0\" \"$@\"; echo \"exit $?\"") + (hydra ? "; sleep 1' " : "' ");
// Runs different commands on rank 0 and on the others. Debian 13's mpiexec crashes on "mpiexec … : …".
std::string by_rank(std::string const& first, std::string const& others) {
  return " sh -c 'if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 0 ]; then " + first + " well; else " +
         others + " well; fi; echo \"exit $?\"'";
}

// One thread per rank, so that up to two ranks do not warn of shared cores.
ended run(int ranks, std::string const& arguments, std::string const& environment = "SKEL_THREADS=1") {
  return shell(environment + " " + mpiexec + "-n " + std::to_string(ranks) + saying + program + " " +
               arguments);
}

void check_exits(ended const& e, int ranks, int code) {
  CHECK(e.out == std::vector<std::string>(static_cast<std::size_t>(ranks), "exit " + std::to_string(code)));
}

// Omits the warnings of shared cores, which depend on the machine.
std::vector<std::string> complaints(ended const& e) {
  std::vector<std::string> lines;
  for (auto const& line : e.errors)
    if (!test::contains(line, " cores of one host")) lines.push_back(line);
  return lines;
}

void check_fails(int ranks, std::string const& act, int code, std::string const& line) {
  CAPTURE(act, ranks);
  auto const e = run(ranks, act);
  check_exits(e, ranks, code);
  CHECK(complaints(e) == std::vector{"mpi_misbehave: " + line});
}

// All ranks exit with 1, one after the other. Meanwhile MPICH's launcher kills the remaining ones and exits
// with a mixture of all codes.
bool ended_by_watchdog(ended const& e) {
  constexpr int timed_out = 124;
  return e.code == 1 || (hydra && e.code != 0 && e.code != timed_out);
}

}  // namespace

TEST_CASE("a successful job: exit code 0 on every rank and no output") {
  auto const e = run(3, "well");
  check_exits(e, 3, 0);
  CHECK(complaints(e).empty());
}

TEST_CASE("bad usage on one rank: it prints, all exit with 2, wherever they are") {
  for (auto const* act : {"usage", "usage-later", "usage-own-code", "usage-no-farm"})
    for (int const rank : {0, 2})
      check_fails(3, act + (" " + std::to_string(rank)), 2, "rank " + std::to_string(rank) + " says no");
}

TEST_CASE("bad usage on several ranks: the lowest prints") {
  check_fails(3, "usage-all", 2, "rank 0 says no");
  check_fails(3, "usage-but-root", 2, "rank 1 says no");
}

TEST_CASE("mutually exclusive choices are bad usage") {
  for (int const ranks : {1, 3})
    check_fails(ranks, "excluded", 2,
                "schedule blocks deals tasks beforehand, but an on_root source is a stream whose end is "
                "unknown: use first-come or guided, or a replicated list");
}

TEST_CASE("bad environment on one rank is bad usage of all") {
  auto const e =
      shell(mpiexec + "-n 2" + by_rank("SKEL_THREADS=1 " + program, "SKEL_THREADS=many " + program));
  check_exits(e, 2, 2);
  CHECK(complaints(e) == std::vector<std::string>{
                             "mpi_misbehave: SKEL_THREADS must be a number from 1 to 4096, found \"many\""});
}

TEST_CASE("a trace that the root cannot write is refused before the run") {
  for (int const ranks : {1, 2}) {
    CAPTURE(ranks);
    auto const e = run(ranks, "well", "SKEL_THREADS=1 SKEL_TRACE=/nonexistent/x.json");
    check_exits(e, ranks, 2);
    CHECK(complaints(e) == std::vector<std::string>{
                               "mpi_misbehave: SKEL_TRACE: /nonexistent/x.json: No such file or directory"});
  }
}

TEST_CASE("an exception that escapes: one line, exit code 1 on every rank") {
  for (int const rank : {0, 1}) {
    auto const who = " " + std::to_string(rank);
    check_fails(2, "escape" + who, 1, "it rains");
    check_fails(2, "escape-int" + who, 1, "an exception that is no std::exception");
  }
  check_fails(1, "escape 0", 1, "it rains");
}

TEST_CASE("an uncaught task_error is reported once") {
  auto const e = run(3, "task");
  check_exits(e, 3, 1);
  auto const said = complaints(e);
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("mpi_misbehave: task 37 failed on rank "));
  CHECK(said[0].ends_with(": bad scene"));
}

TEST_CASE("an error of MPI names call, rank, text and code") {
  auto const e = run(2, "mpi 1");
  check_exits(e, 2, 1);
  auto const said = complaints(e);
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("mpi_misbehave: MPI_Isend failed on rank 1: "));
  CHECK(test::contains(said[0], "nvalid rank"));  // MPICH capitalises it
  CHECK(test::contains(said[0], "(code "));
}

TEST_CASE("ranks that make different calls: the one that differs is named") {
  std::string const begin = "rank 2 made another skeleton call than the root: ";
  check_fails(3, "tasks 2", 1, begin + "tasks 11 instead of 10");
  check_fails(3, "schedule 2", 1, begin + "schedule blocks instead of guided");
  auto const types = run(3, "types 2");
  check_exits(types, 3, 1);
  auto const said = complaints(types);
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("mpi_misbehave: " + begin + "types unsigned long -> std::"));
  for (auto const* act : {"one-call-less 2", "one-call-less-early 2"})
    check_fails(3, act, 1,
                "rank 2 has ended without making this skeleton call: all ranks must make the same calls");
  check_fails(3, "one-call-more 2", 1,
              "rank 2 makes a skeleton call that rank 0 does not make: all ranks must make the same calls");
}

TEST_CASE("the body returns the exit code of the job") {
  for (int const ranks : {1, 3}) {
    auto const last = std::to_string(ranks - 1);
    for (auto const& [returned, code] :
         {std::pair{"3", 3}, {"0", 0}, {"255", 255}, {"256", 1}, {"-1", 255}}) {
      CAPTURE(ranks, returned);
      auto const e = run(ranks, "return " + last + " " + returned);
      check_exits(e, ranks, code);
      CHECK(complaints(e).empty());
    }
  }
  auto const each = run(3, "return-rank");
  check_exits(each, 3, 10);
  CHECK(complaints(each).empty());
  check_fails(3, "return-and-fail 2", 1, "it rains");
  check_fails(3, "return-early 1", 1,
              "rank 1 has ended without making this skeleton call: all ranks must make the same calls");
}

// Open MPI kills the other ranks once it notices that one exited without MPI_Finalize, so some may not print
// their exit code. Those that do must agree.
TEST_CASE("exit() during a skeleton call: one line, and no rank ends with 0") {
  for (int const ranks : {1, 2, 3})
    for (auto const* where : {"task", "sink"}) {
      CAPTURE(ranks, where);
      auto const e = run(ranks, std::string("exit-in-") + where);
      CHECK(!e.out.empty());
      CHECK(std::all_of(e.out.begin(), e.out.end(), [](auto const& line) { return line == "exit 1"; }));
      auto const said = complaints(e);
      CHECK(std::count_if(said.begin(), said.end(), [](auto const& line) {
              return test::contains(
                  line,
                  "exit() was called during a skeleton call: tasks, merges, sources and sinks "
                  "must return or throw");
            }) == 1);
    }
  auto const merge = run(1, "exit-in-merge");
  check_exits(merge, 1, 1);
  CHECK(complaints(merge).size() == 1);
  auto const outside = run(1, "exit-in-body");
  check_exits(outside, 1, 0);
}

TEST_CASE("MPI that is started or ended outside skel: one line, exit code 2") {
  for (int const ranks : {1, 2}) {
    auto const before = run(ranks, "init-before");
    check_exits(before, ranks, 2);
    auto const said = complaints(before);
    REQUIRE(!said.empty());
    CHECK(said[0] ==
          "mpi_misbehave: run_main starts MPI, which is already running: make a skel::context over a "
          "communicator "
          "instead");
    auto const twice = run(ranks, "twice");
    check_exits(twice, ranks, 2);
    REQUIRE(!complaints(twice).empty());
    CHECK(complaints(twice)[0] ==
          "mpi_misbehave: run_main starts MPI, which has already ended: call it once, and not after "
          "MPI_Finalize");
    check_fails(ranks, "init", 2, "MPI_Init was called in the body of run_main, which has started MPI");
    check_fails(ranks, "finalize", 2,
                "MPI_Finalize was called in the body of run_main, which ends MPI itself");
  }
}

TEST_CASE("a call inside a call: one line, exit code 2") {
  for (int const ranks : {1, 2, 3}) {
    auto const e = run(ranks, "nested");
    check_exits(e, ranks, 2);
    auto const said = complaints(e);
    REQUIRE(said.size() == 1);
    CHECK(test::contains(said[0],
                         " made a skeleton call inside a task, merge, source or sink of another call"));
  }
}

TEST_CASE("a program without MPI refuses to run as several ranks") {
  std::string const alone = "timeout 200 " SKEL_CORE_ONLY;
  auto const refused = [&](std::string const& environment, std::string const& how) {
    CAPTURE(environment);
    auto const e = shell(environment + " " + alone);
    CHECK(e.code == 2);
    CHECK(e.out.empty());
    CHECK(e.errors == std::vector<std::string>{"mpi_core_only: started as one of " + how +
                                               ", but this program was compiled without MPI: compile it with "
                                               "-DSKEL_WITH_MPI=1 and link skel::mpi"});
  };
  refused("OMPI_COMM_WORLD_SIZE=2", "2 processes by Open MPI's mpiexec");
  refused("PMI_SIZE=3", "3 processes by the mpiexec of an MPICH or Intel MPI");
  refused("SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=8", "4 processes by Slurm's srun");
  refused("SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=1", "4 processes by Slurm's srun");
  refused("PMIX_RANK=1", "several processes by a launcher with PMIx");
  // One rank of one; a batch script; the shell of an interactive step.
  for (auto const* fine :
       {"OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", "PMI_SIZE=1", "SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_JOB_ID=7",
        "SLURM_NTASKS=4 SLURM_STEP_ID=4294967290 SLURM_PROCID=0",
        "SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1"}) {
    CAPTURE(fine);
    auto const e = shell(std::string(fine) + " " + alone);
    CHECK(e.code == 0);
    CHECK(e.out == std::vector<std::string>{"1 rank"});
    CHECK(e.errors.empty());
  }
  auto const e = shell(mpiexec + "-n 2" + " sh -c '" SKEL_CORE_ONLY "; echo \"exit $?\"'");
  check_exits(e, 2, 2);
}

TEST_CASE("different programs in one job are refused") {
  auto const e = shell("SKEL_THREADS=1 " + mpiexec + "-n 2" + by_rank(program, SKEL_OTHER_PROGRAM));
  check_exits(e, 2, 2);
  CHECK(complaints(e) ==
        std::vector<std::string>{"mpi_misbehave: rank 1 runs another program than rank 0: all "
                                 "ranks of a job need the same executable"});
}

TEST_CASE("the launcher of another MPI is refused in one line that names both") {
  struct launcher {
    std::string variable, name;
  };
  for (auto const& l : {launcher{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"},
                        launcher{"PMI_SIZE", "the mpiexec of an MPICH or Intel MPI"},
                        launcher{"SLURM_STEP_NUM_TASKS", "Slurm's srun"}}) {
    CAPTURE(l.variable);
    auto const e = shell(l.variable + "=4 timeout 200 " + program + " well");
    CHECK(e.code == 2);
    REQUIRE(e.errors.size() == 1);
    CHECK(e.errors[0].starts_with("mpi_misbehave: started as one of 4 processes by " + l.name +
                                  ", but this program is linked with "));
    CHECK(e.errors[0].ends_with(" and is the only process: use that library's mpiexec"));
  }
  auto const alone = shell("timeout 200 " + program + " well");
  CHECK(alone.code == 0);
  CHECK(alone.errors.empty());
}

TEST_CASE("the watchdog: ranks print their state, the run ends with 1") {
  SECTION("one rank never makes the call") {
    auto const e =
        shell("SKEL_THREADS=1 SKEL_WATCHDOG=2s " + mpiexec + "-n 3 " + program + " hang-outside 2");
    CHECK(ended_by_watchdog(e));
    auto const said = complaints(e);
    for (auto const* rank : {"rank 0: farm 1 (context 1, guided)", "rank 1: farm 1 (context 1, guided)"}) {
      CAPTURE(rank);
      CHECK(std::count_if(said.begin(), said.end(), [&](auto const& l) {
              return l.starts_with("skel: no progress for ") && test::contains(l, rank);
            }) == 1);
    }
    CHECK(std::any_of(said.begin(), said.end(), [](auto const& l) {
      return test::contains(l, "rank 0: ") && l.ends_with("; not in this call: ranks [2]");
    }));
  }
  SECTION("one rank never makes the call of a farm of teams") {
    auto const e =
        shell("SKEL_THREADS=1 SKEL_WATCHDOG=2s " + mpiexec + "-n 3 " + program + " hang-outside-teams 2");
    CHECK(ended_by_watchdog(e));
    auto const said = complaints(e);
    for (auto const* rank : {"rank 0: farm 1 (context 1, teams)", "rank 1: farm 1 (context 1, teams)"}) {
      CAPTURE(rank);
      CHECK(std::any_of(said.begin(), said.end(), [&](auto const& l) { return test::contains(l, rank); }));
    }
    CHECK(std::any_of(said.begin(), said.end(), [](auto const& l) {
      return test::contains(l, "rank 0: ") && l.ends_with("; not in this call: ranks [2]");
    }));
  }
  SECTION("the root never makes the call") {
    auto const e =
        shell("SKEL_THREADS=1 SKEL_WATCHDOG=2s " + mpiexec + "-n 2 " + program + " hang-outside 0");
    CHECK(ended_by_watchdog(e));
    auto const said = complaints(e);
    REQUIRE(said.size() == 1);
    CHECK(test::contains(said[0], "rank 1: farm 1"));
    CHECK(said[0].ends_with("; nothing heard from the root in this call"));
  }
  for (std::string const rank : {"0", "1"}) {
    SECTION("a task hangs on rank " + rank) {
      auto const e =
          shell("SKEL_THREADS=1 SKEL_WATCHDOG=2s " + mpiexec + "-n 2 " + program + " hang-in-task " + rank);
      CHECK(ended_by_watchdog(e));
      auto const said = complaints(e);
      for (std::string const r : {"0", "1"})
        CHECK(std::count_if(said.begin(), said.end(), [&](auto const& l) {
                return test::contains(l, "rank " + r + ": farm 1 (context 1, interleaved)");
              }) == 1);
    }
  }
}

namespace {

// Under a launcher that lets the others live. Whatever hangs does so for an hour.
ended survivors(int ranks, std::string const& arguments, std::string const& environment) {
  return shell("SKEL_THREADS=1 " + environment + " timeout 100 " SKEL_MPIEXEC_SCRIPT " --oversubscribe -n " +
               std::to_string(ranks) + " " + program + " " + arguments);
}

std::ptrdiff_t lines_with(ended const& e, std::string const& text) {
  return std::count_if(e.errors.begin(), e.errors.end(),
                       [&](auto const& line) { return test::contains(line, text); });
}

}  // namespace

TEST_CASE("the watchdog ends every rank, also one that hangs") {
  for (std::string const where : {"task", "sink", "packing"}) {
    int const rank = where == "sink" ? 0 : 1;
    auto const e = survivors(3, "hang-in-" + where + " " + std::to_string(rank), "SKEL_WATCHDOG=1s");
    CAPTURE(where, e.errors);
    CHECK(e.code == 1);
    for (int r = 0; r < 3; ++r) CHECK(lines_with(e, ": rank " + std::to_string(r) + ": ") == 1);
  }
  auto const outside = survivors(3, "hang-outside 2", "SKEL_WATCHDOG=1s");
  CHECK(outside.code == 1);
  CHECK(lines_with(outside, "no progress for ") == 2);
}

TEST_CASE("the watchdog ends a team that waits for a lost member inside MPI") {
  // ULFM would end the waiting.
  auto const e = survivors(5, "hang-in-team 2", "SKEL_WATCHDOG=2s SKEL_SUSPECT_AFTER=1s SKEL_ULFM=no");
  CAPTURE(e.errors);
  CHECK(e.code == 1);
  CHECK(lines_with(e, "in task ") == 1);
}

TEST_CASE("one process: the watchdog and time limits of tasks end what hangs") {
  for (std::string const environment : {"SKEL_THREADS=1", "SKEL_THREADS=2"})
    for (std::string const what : {"hang-in-task 0", "hang-in-sink 0", "overrun 0"}) {
      auto const e = shell(environment + " SKEL_WATCHDOG=1s timeout 100 " + program + " " + what);
      CAPTURE(environment, what, e.errors);
      CHECK(e.code == 1);
      REQUIRE(e.errors.size() == 1);
      CHECK(e.errors[0].starts_with(what == "overrun 0" ? "skel: rank 0: task "
                                                        : "skel: no progress for 1 s: rank 0: farm 1 "));
      if (what == "overrun 0")
        CHECK(e.errors[0].ends_with(" has run for longer than its time limit of 0.5 s, so this rank ends"));
    }
}

TEST_CASE("no time limit counts seconds for which the process was stopped") {
  for (std::string const threads : {"1", "2"}) {
    auto const e = shell("SKEL_THREADS=" + threads + " SKEL_WATCHDOG=2s timeout 100 " + program + " stopped");
    CAPTURE(threads, e.errors);
    CHECK(e.code == 0);
    CHECK(e.errors.empty());
  }
}

TEST_CASE("a source that waits for results of its own farm is named") {
  for (int const ranks : {1, 2}) {
    auto const e = survivors(ranks, "hang-in-source", "SKEL_WATCHDOG=12s");
    CAPTURE(ranks, e.errors);
    CHECK(e.code == 1);
    CHECK(lines_with(e, "skel: the source of a farm has not returned for 1") == 1);
    CHECK(lines_with(e, ", inside its source for 1") == 1);
  }
}

TEST_CASE("the loss of the root ends ranks that do not return to skel") {
  for (std::string const where : {"task", "own-code"}) {
    auto const e = survivors(3, "lose-root-in-" + where + " 1", "SKEL_SUSPECT_AFTER=1s");
    CAPTURE(where, e.errors);
    CHECK(e.code == 1);
    CHECK(std::count(e.errors.begin(), e.errors.end(), "mpi_misbehave: lost the root (rank 0)") == 1);
    CHECK(lines_with(e, "lost the root (rank 0): rank 1 ends inside ") == 1);
  }
}

TEST_CASE("a program with an MPI of its own survives the loss of roots") {
  for (int losses = 0; losses < 4; ++losses) {
    auto const e = survivors(4, "survive " + std::to_string(losses), "SKEL_SUSPECT_AFTER=2s");
    CAPTURE(losses, e.errors, e.out);
    CHECK(e.code == 7);
    auto expected = losses == 0 ? std::vector<std::string>(4, "returned 7") : std::vector<std::string>();
    expected.push_back("332833500 on " + std::to_string(4 - losses) + " ranks, attempt " +
                       std::to_string(losses + 1) + ", rank " + std::to_string(3 - losses));
    auto out = e.out;
    std::ranges::sort(out);
    std::ranges::sort(expected);
    CHECK(out == expected);
    for (int lost = 0; lost < losses; ++lost)
      CHECK(lines_with(e, "lost the root (rank " + std::to_string(lost) + "): " + std::to_string(3 - lost) +
                              " of 4 ranks begin again") == 1);
  }
}

TEST_CASE("more compute threads than cores: one warning for the job") {
  auto const e = run(2, "well", "SKEL_THREADS=64");
  check_exits(e, 2, 0);
  REQUIRE(e.errors.size() == 1);
  CHECK(e.errors[0].starts_with("skel: 2 ranks with 128 compute threads share "));
}

TEST_CASE("a misspelt variable: one warning for the job") {
  auto const e = run(2, "well", "SKEL_THREADS=1 SKEL_WATCHDOGG=2s");
  check_exits(e, 2, 0);
  REQUIRE(e.errors.size() == 1);
  CHECK(e.errors[0] == "skel: unknown environment variable SKEL_WATCHDOGG; did you mean SKEL_WATCHDOG?");
}

TEST_CASE("compute threads are this rank's share of the cores it may use") {
  auto const threads = [](std::string const& before, int ranks) {
    auto e = shell(before + " " + mpiexec + "-n " + std::to_string(ranks) + " --bind-to none " + program +
                   " threads");
    std::vector<int> all;
    for (auto const& line : e.out) all.push_back(std::stoi(line.substr(line.rfind(' ') + 1)));
    return all;
  };
  int const cores = std::stoi(shell("nproc").out.at(0));
  CHECK(threads("", 1) == std::vector<int>{cores});
  CHECK(threads("", 2) == std::vector<int>(2, std::max(1, cores / 2)));
  CHECK(threads("taskset -c 0", 1) == std::vector<int>{1});
  CHECK(threads("taskset -c 0", 3) == std::vector<int>(3, 1));
  CHECK(threads("SKEL_THREADS=3", 2) == std::vector<int>(2, 3));
}

TEST_CASE("a rank without work uses little of its core", "[cores]") {
  auto const e = shell("SKEL_THREADS=1 " + mpiexec + "-n 3 " + program + " idle");
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 3);
  for (auto const& line : e.out) {
    CAPTURE(line);
    double const share = std::stod(line.substr(line.find("cpu ") + 4));
    // Constant polling would use 100 %; benchmarks/farm/idle_latency measures the actual share.
    CHECK(share < 50.0);
  }
}

TEST_CASE("a root inside a long task continues to answer", "[cores]") {
  auto const e = shell("SKEL_THREADS=1 " + mpiexec + "-n 2 " + program + " busy-root");
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 1);
  // With an unresponsive root the others would run only the few tasks of their first request.
  CHECK(std::stoi(e.out[0].substr(13)) > 100);
}
