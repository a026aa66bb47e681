// Runs skel-model as a user does.

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "observe/support.hpp"
#include "running.hpp"

namespace {

auto run_in(std::string const& directory, std::string const& arguments) {
  return test::run_program("env -C " + directory + " " + SKEL_MODEL, arguments, 50);
}
auto run(std::string const& arguments) {
  static test::temporary_directory const here;  // fit writes its model there
  return run_in(here.file("."), arguments);
}

std::string const paper = std::string(SKEL_PAPER) + "/";
std::string const fit_paper = "fit " + paper + "table-1.csv " + paper +
                              "table-2.csv --basis 'divide=1 + M' --basis 'combine=1 + N' --basis "
                              "'sequential=N + M' --weights equal --halved M";
std::string const head =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,seconds,busy_seconds,"
    "idle_seconds,communication_seconds,messages,bytes,problem\n";

using test::contains;

}  // namespace

TEST_CASE("predict uses the model that fit has written") {
  test::temporary_directory const d;
  auto const fit = run(fit_paper + " -o " + d.file("model.json") + " --plot " + d.file("fit.svg"));
  INFO(fit.text);
  REQUIRE(fit.code == 0);
  CHECK(contains(fit.text, "divide seconds (8 samples, R² 0.99999"));
  CHECK(contains(fit.text, "1.94e-08"));
  CHECK(contains(fit.text, "held out: "));
  CHECK(contains(fit.text, "noise from run to run: unknown, no configuration was repeated"));
  CHECK(contains(fit.text, "with each division: M is halved"));
  CHECK(contains(test::read_file(d.file("fit.svg")), "</svg>"));
  auto const out =
      run("fit " + paper + "table-1.csv --basis '1 + M' --only phase=divide --extra-p " + d.file("e.jsonl"));
  INFO(out.text);
  REQUIRE(out.code == 0);
  auto const again = run("fit " + d.file("e.jsonl") + " --basis '1 + M'");
  INFO(again.text);
  CHECK(again.code == 0);
  CHECK(contains(again.text, "divide seconds (8 samples"));
  auto const predict = "predict --model " + d.file("model.json") + " --machine " + paper +
                       "machine.json --bytes '4*N' --nodes 1024000 --edges 2048000 --ranks 8";
  auto const text = run(predict);
  INFO(text.text);
  REQUIRE(text.code == 0);
  CHECK(contains(text.text, "predicted: "));
  CHECK(contains(
      text.text,
      "warning: divide: M = 2048000 is 64 times the largest value in the samples (32000): extrapolated"));
  auto const found = nlohmann::json::parse(run(predict + " --json").text).at(0);
  CHECK(found["terms"].size() == 10);
  double exchange = 0;
  for (auto const& t : found["terms"])
    if (t["phase"] == "exchange") exchange += t["seconds"].get<double>();
  CHECK(exchange == Approx(0.929202).margin(5e-7));
  CHECK(found["low"] < found["seconds"]);
  auto const same =
      run(predict.substr(0, predict.find("--nodes")) + "--set N=1024000 --set M=2048000 --ranks 8");
  CHECK(same.text == text.text);
}

TEST_CASE("without a file name fit writes model.json, and predict and compare read it") {
  test::temporary_directory const d;
  auto const here = d.file(".");
  std::string const sizes = " --bytes '4*N' --nodes 1024000 --edges 2048000 --ranks 8";
  auto const none = run_in(here, "predict" + sizes);
  CHECK(none.code == 2);
  CHECK(none.text ==
        "skel-model: model.json: no such file; write it with skel-model fit or name another with --model\n");
  auto const printed = run_in(here, fit_paper + " --json");
  CHECK(printed.code == 0);
  CHECK(run_in(here, "predict" + sizes).code == 2);
  for (int i = 0; i < 2; ++i) {  // a model may be replaced
    auto const fit = run_in(here, fit_paper);
    REQUIRE(fit.code == 0);
    CHECK(fit.text.ends_with("\nwritten: model.json\n"));
    CHECK(test::read_file(d.file("model.json")) == printed.text);
  }
  for (std::string const verb : {"predict", "compare"}) {
    auto const found = run_in(here, verb + sizes + " --machine " + paper + "machine.json");
    REQUIRE(found.code == 0);
    CHECK(found.text ==
          run(verb + sizes + " --machine " + paper + "machine.json --model " + d.file("model.json")).text);
  }
  test::write_file(d.file("model.json"), "something else\n");
  auto const other = run_in(here, fit_paper);
  CHECK(other.code == 2);
  CHECK(contains(other.text, "exists and is not a model; name another file with -o"));
  CHECK(test::read_file(d.file("model.json")) == "something else\n");
  CHECK(run_in(here, fit_paper + " -o model.json").code == 0);
}

TEST_CASE("compare recommends a candidate") {
  auto const r = run("compare --model " + paper + "table-3.json --machine " + paper +
                     "machine.json --bytes '4*N' --nodes 1000 --edges 1000000 --ranks 1,2,4,8");
  INFO(r.text);
  REQUIRE(r.code == 0);
  CHECK(contains(r.text, "choose: divide_and_conquer hypercube on 8 ranks"));
  auto const dear = run("compare --model " + paper + "table-3.json --machine " + paper +
                        "machine.json --bytes '4*N' --nodes 1000000 --edges 100000 --ranks 1,2,4,8 --json");
  REQUIRE(dear.code == 0);
  auto const found = nlohmann::json::parse(dear.text);
  CHECK(found["candidates"].size() == 4);
  CHECK(found["candidates"][0]["ranks"] == 1);
  CHECK(found["candidates"][0]["chosen"] == true);
}

TEST_CASE("a farm's samples give a model of runs") {
  test::temporary_directory const d;
  std::string csv = head;
  for (int tasks = 100; tasks <= 800; tasks *= 2)
    for (int ranks : {1, 2, 4, 8})
      csv += "2,p,farm,guided:min=1,streamed," + std::to_string(ranks) + ",1,run,," + std::to_string(tasks) +
             "," + std::to_string(0.001 + 0.01 * tasks / ranks) + "," + std::to_string(0.01 * tasks) +
             ",0,0,10,1000,\n";
  test::write_file(d.file("s.csv"), csv);
  auto const fit = run("fit " + d.file("s.csv") + " -o " + d.file("m.json"));
  INFO(fit.text);
  REQUIRE(fit.code == 0);
  CHECK(contains(fit.text, "tasks/P"));
  auto const predict = run("predict --model " + d.file("m.json") + " --set tasks=3200 --ranks 4");
  INFO(predict.text);
  REQUIRE(predict.code == 0);
  CHECK(contains(predict.text, "run"));
#if SKEL_HAS_SIMULATE
  auto const words = run("compare --model " + d.file("m.json") + " --machine " + paper +
                         "machine.json --set tasks=400 --ranks 4 --schedules 'blocks;guided'");
  CHECK(contains(words.text, "warning: simulated with fixed costs"));
  auto const compare = run("compare --model " + d.file("m.json") + " --machine " + paper +
                           "machine.json --set tasks=400 --ranks 4 --schedules 'blocks;guided' --json");
  INFO(compare.text);
  REQUIRE(compare.code == 0);
  auto const found = nlohmann::json::parse(compare.text);
  for (auto const& c : found["candidates"]) CHECK(c["seconds"].get<double>() == Approx(1.0).epsilon(0.1));
#endif
}

#if SKEL_HAS_SIMULATE
TEST_CASE("a search whose nodes take microseconds is simulated") {
  test::temporary_directory const d;
  std::string csv = head;
  for (int tasks = 1000; tasks <= 64000; tasks *= 4)
    for (int ranks : {1, 2})
      csv += "2,p,ring_steal,ring:take=half,merged," + std::to_string(ranks) + ",1,run,," +
             std::to_string(tasks) + "," + std::to_string(2e-6 * tasks / ranks) + "," +
             std::to_string(2e-6 * tasks) + ",0,0,10,1000,\n";
  test::write_file(d.file("s.csv"), csv);
  REQUIRE(run("fit " + d.file("s.csv") + " -o " + d.file("m.json")).code == 0);
  auto const r = run("predict --model " + d.file("m.json") + " --machine " + paper +
                     "machine.json --simulate --tree binomial:b=200,q=0.12,m=8,r=1 --ranks 2");
  INFO(r.text);
  REQUIRE(r.code == 0);
  CHECK(contains(r.text, "simulated run"));
}
#endif

TEST_CASE("plots are written") {
  test::temporary_directory const d;
  REQUIRE(run(fit_paper + " -o " + d.file("m.json")).code == 0);
  auto const r =
      run("plot --model " + d.file("m.json") + " --machine " + paper + "machine.json --bytes '4*N' " + paper +
          "table-1.csv " + paper + "table-4.csv -o " + d.file("p.svg"));
  INFO(r.text);
  REQUIRE(r.code == 0);
  CHECK(contains(test::read_file(d.file("p.svg")), "whole runs"));
}

TEST_CASE("errors give one line and exit code 2") {
  test::temporary_directory const d;
  auto const bad = [&](std::string const& arguments) {
    auto const r = run(arguments);
    INFO(r.text);
    CHECK(r.code == 2);
    CHECK(std::count(r.text.begin(), r.text.end(), '\n') == 1);
    CHECK(r.text.starts_with("skel-model: "));
    return r.text.substr(12, r.text.size() - 13);
  };
  CHECK(bad("fit /nonexistent.csv") == "/nonexistent.csv: No such file or directory");
  test::write_file(d.file("s.csv"), head + "2,p,s,,,1,1,divide,0,,nan,,,,,,M=1\n");
  CHECK(bad("fit " + d.file("s.csv")) ==
        d.file("s.csv") + ":2: seconds is \"nan\", expected a number from 0 to 1e30");
  test::write_file(d.file("s.csv"), head + "2,p,s,,,1,1,divide,0,,1,,,,,,M=1\n");
  CHECK(bad("fit " + d.file("s.csv")) ==
        "s, divide: 1 samples, expected at least 5 to choose a basis; or give one with --basis");
  CHECK(bad("fit " + d.file("s.csv") + " --basis 1") ==
        "s, divide: 1 samples for 1 coefficients, expected at least 2");
  CHECK(bad("fit " + d.file("s.csv") + " --basis other=1") ==
        "--basis other: the samples have no phase \"other\"");
  CHECK(bad("fit " + d.file("s.csv") + " --only ranks=3") == "--only ranks=3: no sample matches");
  CHECK(bad("predict --model " + paper + "table-3.json --set N --ranks 2") ==
        "--set: expected NAME=VALUE with a number of at least 0, found \"N\"");
  CHECK(bad("predict --model " + paper + "table-3.json --set N=1 --ranks 2") ==
        "divide: unknown variable \"M\"; known: N, P (give sizes with --set NAME=VALUE)");
  CHECK(bad("predict --model " + paper + "table-3.json --schedule ring --nodes 1 --edges 1") ==
        paper + "table-3.json: no matching skeleton in the model; known: divide_and_conquer hypercube");
  CHECK(bad("predict --model " + paper + "table-3.json --nodes 1 --set N=2 --edges 1") ==
        "--nodes and --set N: expected only one of them");
  CHECK(bad("predict --model " + paper + "table-3.json --nodes 1 --edges 1 --set Z=2") ==
        "Z is not a variable of the model; known: M, N, P, tasks, threads");
  CHECK(bad("predict --model " + paper + "table-3.json --nodes 1e300 --edges 1") ==
        "N is 1e+300, expected a number from 0 to 1e30");
  CHECK(contains(bad("fit " + paper + "table-1.csv --variables Z"),
                 "--variables Z: the samples have no such variable; known: "));
  CHECK(contains(bad("fit " + paper + "table-1.csv --basis '1 + M' --halved Z"), "--halved Z: "));
  test::write_file(d.file("s.csv"), head + "2,p,s,,,1,1,divide,0,,1,,,,,,N=nan\n");
  CHECK(bad("fit " + d.file("s.csv")) == d.file("s.csv") + ":2: N is nan, expected a number");
  CHECK(contains(bad("forecast"), "--help"));
  CHECK(contains(bad(""), "--help"));
  CHECK(bad("plot -o " + d.file("p.svg")) ==
        "nothing to plot, expected --model FILE.json with samples, or --machine FILE.json");
  CHECK(contains(bad("plot --machine " + paper + "machine.json -o " + d.file("p.png")), "unknown extension"));
  CHECK(contains(bad(fit_paper + " --plot " + d.file("p.png")), "unknown extension"));
  CHECK(contains(bad("fit " + paper + "table-1.csv -o /nonexistent/m.json"), "/nonexistent/m.json: "));
  CHECK(bad("calibrate") == "calibrate: expected at least 2 ranks: mpiexec -n 4 skel-model calibrate …");
}

TEST_CASE("help and version are printed") {
  CHECK(run("--help").code == 0);
  CHECK(contains(run("--help").text, "calibrate"));
  CHECK(run("calibrate --help").code == 0);
  CHECK(contains(run("--version").text, "skel-model "));
}
