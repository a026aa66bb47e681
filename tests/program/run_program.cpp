// Tests the contract of all programs from outside: exit codes, messages, files.
#include "program/run_program.hpp"

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "observe/support.hpp"
#include "running.hpp"

namespace {

test::output probe(std::string const& arguments, std::string const& launcher = {}) {
  return test::run_command(launcher + " '" SKEL_PROBE "' " + arguments);
}

}  // namespace

TEST_CASE("a completed run prints its summary and exits with 0") {
  auto const run = probe("whole --threads 2");
  CHECK(run.code == 0);
  CHECK(run.text == "farm guided streamed: 8 tasks on 1 rank x 2 threads in 0.5 s, 25 % busy\n");
  CHECK(run.errors.empty());
  CHECK(probe("whole --quiet").text.empty());
}

TEST_CASE("--help, --help-all and --version exit with 0") {
  auto const some = probe("--help"), help = probe("--help-all");
  CHECK(some.code == 0);
  CHECK(test::contains(some.text, "--schedule SPEC"));
  CHECK_FALSE(test::contains(some.text, "--audit"));
  CHECK(some.text.ends_with("\nskel-probe --help-all shows 4 more options.\n"));
  CHECK(help.code == 0);
  CHECK(help.errors.empty());
  for (auto const* const option :
       {"--schedule SPEC", "--results SPEC", "--root works|serves", "--threads N", "--report FILE.json",
        "--trace FILE.json", "--samples FILE.csv", "--progress auto|always|never", "--verify",
        "-o,--output FILE", "--quiet", "--version", "--time-limit", "--on-error", "--task-time-limit",
        "--audit SHARE", "ACT"}) {
    CAPTURE(option);
    CHECK(test::contains(help.text, option));
  }
  CHECK(probe("--version").text == "skel-probe 1.1.0\n");
}

TEST_CASE("bad options and bad input give one line and exit code 2") {
  auto const complains = [](std::string const& arguments, std::string const& line) {
    auto const run = probe(arguments);
    CHECK(run.code == 2);
    CHECK(run.text.empty());
    CHECK(run.errors == "skel-probe: " + line + "\n");
  };
  complains("", "ACT is required");
  complains("whole --root sleeps", "--root: unknown role \"sleeps\"; known: works, serves");
  complains("whole --root wroks", "--root: unknown role \"wroks\"; did you mean works? known: works, serves");
  complains("whole --colour",
            "The following argument was not expected: --colour; --help-all lists the options");
  complains("--colour", "The following argument was not expected: --colour; --help-all lists the options");
  complains(
      "whole --reprot=x.json",
      "The following argument was not expected: --reprot=x.json; did you mean --report? --help-all lists "
      "the options");
  complains("whole --prog never",
            "The following argument was not expected: --prog; did you mean --progress? --help-all lists "
            "the options");
  complains(
      "whole --s",
      "The following argument was not expected: --s; --help-all lists the options");  // several begin so
  complains("bad-input", "scene.nff:12: polygon needs 3 vertices, found \"2 \\x1b[31m\"");
  complains("whole -o a.jpg", "a.jpg: unknown extension \".jpg\"; known: .png, .ppm");
  complains("whole --report /nonexistent/r.json", "/nonexistent/r.json: No such file or directory");
}

TEST_CASE("a failing run gives one line and exit code 1") {
  auto const fails = [](std::string const& act, std::string const& line) {
    auto const run = probe(act);
    CHECK(run.code == 1);
    CHECK(run.errors == "skel-probe: " + line + "\n");
  };
  fails("task", "task 17 failed on rank 0: bad thing (and 3 more)");
  fails("differs", "the result differs from the brute-force one in row 3");
  fails("memory", "out of memory");
}

TEST_CASE("a run whose tasks fail ends, repeats them, or says what it left out") {
  test::temporary_directory const directory;
  auto const report = directory.file("r.json");
  std::vector<std::string> launchers = {""};
#ifdef SKEL_MPIEXEC
  launchers.emplace_back(SKEL_MPIEXEC " 3");
#endif
  for (auto const& launcher : launchers) {
    CAPTURE(launcher);
    // The program's own lines, and its exit code.
    auto const run = [&](std::string const& arguments) {
      auto const all = probe(arguments + " --quiet --report " + report, launcher);
      std::vector<std::string> lines;
      std::istringstream in(all.errors);
      for (std::string line; std::getline(in, line);)
        if (line.starts_with("skel-probe: ") && !line.ends_with(" cores of one host")) lines.push_back(line);
      return std::pair{all.code, lines};
    };
    auto const stopped = run("fails");
    CHECK(stopped.first == 1);
    REQUIRE(stopped.second.size() == 1);
    CHECK(stopped.second[0].starts_with("skel-probe: task "));

    auto const [code, lines] = run("fails --on-error collect:times=2");
    CHECK(code == skel::program::exit_incomplete);
    REQUIRE(lines.size() == 3);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(lines[i].starts_with("skel-probe: task " + std::string(i == 0 ? "3" : "12") +
                                 " failed 2 times, last on rank "));
      CHECK(lines[i].ends_with(", and is left out: no luck"));
    }
    CHECK(lines[2] == "skel-probe: the result is incomplete: 2 of 20 tasks left out");
    auto const said = nlohmann::json::parse(test::read_file(report));
    CHECK(said["tasks"] == 18);
    REQUIRE(said["failed_tasks"].size() == 2);
    CHECK(said["failed_tasks"][1]["task"] == 12);

    auto const refused = run("fails --on-error collect --verify");
    CHECK(refused.first == 2);
    CHECK(refused.second ==
          std::vector<std::string>{
              "skel-probe: --verify: requires the whole result, expected no --on-error collect"});
    CHECK(run("elsewhere --schedule interleaved").first == (launcher.empty() ? 0 : 1));
    auto const repeated = run("elsewhere --schedule interleaved --on-error retry");
    CHECK(repeated.first == 0);
    CHECK(repeated.second.empty());
    CHECK(nlohmann::json::parse(test::read_file(report))["tasks"] == 20);
  }
}

TEST_CASE("a run writes the requested files") {
  test::temporary_directory const directory;
  CHECK(probe("whole --report " + directory.file("r.json") + " --trace " + directory.file("t.json") +
              " --samples " + directory.file("s.csv"))
            .code == 0);
  auto const report = nlohmann::json::parse(test::read_file(directory.file("r.json")));
  CHECK(report["program"] == "skel-probe");
  CHECK(report["result_xxh3"] == "0123456789abcdef");
  CHECK(report["acted"] == "whole");
  CHECK(nlohmann::json::parse(test::read_file(directory.file("t.json"))).contains("traceEvents"));
  CHECK(test::read_file(directory.file("s.csv")).ends_with(",act=whole\n"));
  CHECK(directory.entries() == 3);
}

TEST_CASE("the time limit ends a run with its report, without a sample, with exit code 1") {
  test::temporary_directory const directory;
  auto const report = " --report " + directory.file("r.json") + " --samples " + directory.file("s.csv");
  auto const late = probe("wait --time-limit 100ms" + report);
  CHECK(late.code == 1);
  CHECK(late.errors == "skel-probe: stopped by the time limit after 3 tasks; the result is incomplete\n");
  CHECK(nlohmann::json::parse(test::read_file(directory.file("r.json")))["stopped_early"] == true);
  CHECK(directory.entries() == 1);
}

namespace {

// Sends signals to the probe once it is ready; on a busy machine its start takes seconds. A shell
// without job control makes background processes ignore SIGINT; env undoes that.
test::output signalled(std::string const& act, std::string const& signals) {
  test::temporary_directory const directory;
  auto const ready = directory.file("ready.ppm");
  return test::run_command("env --default-signal=INT '" SKEL_PROBE "' " + act + " --time-limit 60s -o " +
                           ready + " >/dev/null & pid=$!; while [ ! -e " + ready +
                           " ]; do sleep 0.05; done; for s in " + signals +
                           "; do kill -$s $pid; sleep 0.2; done; wait $pid");
}

}  // namespace

TEST_CASE("SIGTERM and Ctrl-C stop a run with one line and exit code 1") {
  for (std::string const name : {"TERM", "INT"}) {
    CAPTURE(name);
    auto const run = signalled("wait", name);
    CHECK(run.code == 1);
    CHECK(run.errors == "skel-probe: stopped by SIG" + name + " after 3 tasks; the result is incomplete\n");
  }
}

TEST_CASE("a second Ctrl-C ends an unresponsive program") {
  auto const run = signalled("sleep", "INT INT");
  CHECK(run.code == 128 + SIGINT);
  CHECK(run.errors.empty());
}
