// Runs skel-model as a user does.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "observe/support.hpp"
#include "outcome.hpp"

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

using test::contains, test::success;

}  // namespace

TEST_CASE("predict uses the model that fit has written") {
  test::temporary_directory const d;
  auto const fit = success(run(fit_paper + " -o " + d.file("model.json") + " --plot " + d.file("fit.svg")));
  CHECK(contains(fit, "divide seconds (8 samples, R² 0.99999"));
  CHECK(contains(fit, "1.94e-08"));
  CHECK(contains(fit, "held out: "));
  CHECK(contains(fit, "noise from run to run: unknown, no configuration was repeated"));
  CHECK(contains(fit, "with each division: M is halved"));
  CHECK(contains(test::read_file(d.file("fit.svg")), "</svg>"));
  success(
      run("fit " + paper + "table-1.csv --basis '1 + M' --only phase=divide --extra-p " + d.file("e.jsonl")));
  auto const again = success(run("fit " + d.file("e.jsonl") + " --basis '1 + M'"));
  CHECK(contains(again, "divide seconds (8 samples"));
  auto const predict = "predict --model " + d.file("model.json") + " --machine " + paper +
                       "machine.json --bytes '4*N' --nodes 1024000 --edges 2048000 --ranks 8";
  auto const text = success(run(predict));
  CHECK(contains(text, "predicted: "));
  CHECK(contains(
      text,
      "warning: divide: M = 2048000 is 64 times the largest value in the samples (32000): extrapolated"));
  auto const found = nlohmann::json::parse(run(predict + " --json").text).at(0);
  CHECK(found["terms"].size() == 10);
  double exchange = 0;
  for (auto const& t : found["terms"])
    if (t["phase"] == "exchange") exchange += t["seconds"].get<double>();
  CHECK(exchange == Approx(0.929202).margin(5e-7));
  CHECK(found["low"] < found["seconds"]);
  auto const half_sure = nlohmann::json::parse(run(predict + " --json --confidence 0.5").text).at(0);
  CHECK(half_sure["seconds"] == found["seconds"]);
  CHECK(half_sure["low"] > found["low"]);
  CHECK(half_sure["high"] < found["high"]);
  auto const upper_bound = [](std::string const& options) {
    return nlohmann::json::parse(
        run(fit_paper + " --json" + options).text)["skeletons"][0]["terms"][0]["high"][1];
  };
  CHECK(upper_bound(" --confidence 0.5") < upper_bound(""));
  auto const same =
      run(predict.substr(0, predict.find("--nodes")) + "--set N=1024000 --set M=2048000 --ranks 8");
  CHECK(same.text == text);
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
  auto const r = success(run("compare --model " + paper + "table-3.json --machine " + paper +
                             "machine.json --bytes '4*N' --nodes 1000 --edges 1000000 --ranks 1,2,4,8"));
  CHECK(contains(r, "choose: divide_and_conquer hypercube on 8 ranks"));
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
  auto const fit = success(run("fit " + d.file("s.csv") + " -o " + d.file("m.json")));
  CHECK(contains(fit, "tasks/P"));
  auto const predict = success(run("predict --model " + d.file("m.json") + " --set tasks=3200 --ranks 4"));
  CHECK(contains(predict, "run"));
#if SKEL_HAS_SIMULATE
  auto const compare = "compare --model " + d.file("m.json") + " --machine " + paper +
                       "machine.json --set tasks=400 --ranks 4 --schedules 'blocks;guided' --simulate";
  auto const words = run(compare + " --costs constant:10ms");
  CHECK(contains(words.text, "warning: simulated with fixed costs"));
  auto const whole = success(run(compare + " --json"));
  auto const found = nlohmann::json::parse(whole);
  CHECK(found["candidates"].size() == 4);  // guided:min=1 of the samples, blocks, guided, auto
  for (auto const& c : found["candidates"]) CHECK(c["seconds"].get<double>() == Approx(1.0).epsilon(0.1));
#endif
}

#if SKEL_HAS_SIMULATE  // not with AddressSanitizer, see tests/sim
namespace {

// Samples of this skeleton with tasks of 10 ms that scatter by 1 % from run to run.
std::string samples_of(std::string const& skeleton, std::string const& schedule, std::string const& results,
                       std::string const& problem = "") {
  std::string csv;
  int count = 0;
  for (int const tasks : {20, 40, 80})
    for (int const ranks : {2, 4}) {
      double const busy = 0.01 * tasks * (count++ % 2 == 0 ? 1.01 : 0.99);
      csv += "2,p," + skeleton + "," + schedule + "," + results + "," + std::to_string(ranks) + ",1,run,," +
             std::to_string(tasks) + "," + std::to_string(busy / ranks) + "," + std::to_string(busy) +
             ",0,0,10,1000," + problem + "\n";
    }
  return csv;
}

// A trace with a span per task.
std::string trace_of(std::vector<double> const& seconds) {
  std::string events;
  for (double const s : seconds)
    events += (events.empty() ? "" : ",") +
              (R"({"name":"compute","ph":"X","pid":0,"tid":0,"ts":0,"dur":)" + std::to_string(s * 1e6)) +
              R"(,"args":{"first_task":0,"tasks":1}})";
  return R"({"traceEvents":[{"name":"process_name","ph":"M","pid":0},)" + events + "]}";
}

}  // namespace

TEST_CASE("compare simulates every skeleton of the model") {
  test::temporary_directory const d;
  test::write_file(d.file("s.csv"), head + samples_of("farm", "guided", "streamed") +
                                        samples_of("ring_steal", "ring:take=half", "merged") +
                                        samples_of("multi_host", "groups:size=2", "on_hosts") +
                                        samples_of("bsp", "supersteps", "in_parts", "message_bytes=64"));
  REQUIRE(run("fit " + d.file("s.csv") + " --basis run.busy_seconds=tasks --basis run=tasks/P --basis " +
              "run.bytes=1 -o " + d.file("m.json"))
              .code == 0);
  std::vector<double> costs;
  for (int i = 0; i < 100; ++i) costs.push_back(i % 2 == 0 ? 0.005 : 0.015);
  test::write_file(d.file("t.json"), trace_of(costs));
  std::string const compare =
      "compare --simulate --model " + d.file("m.json") +
      " --platform cluster:ranks=4 --ranks 2,4 --set tasks=60 --rows 4 --read-seconds "
      "0.001 --group-sizes 2 --schedules blocks";
  auto const text = success(run(compare + " --costs " + d.file("t.json")));
  CHECK(contains(text, "choose: "));
  CHECK(contains(text, "confidence against "));
  auto const found =
      nlohmann::json::parse(run(compare + " --costs " + d.file("t.json") + " --json").text)["candidates"];
  std::map<std::string, nlohmann::json> by_name;
  for (auto const& c : found) by_name[c["name"].get<std::string>() + c["ranks"].dump()] = c;
  CHECK(by_name.size() == 12);
  for (std::string const name : {"farm guided", "farm blocks", "farm auto", "ring_steal ring:take=half",
                                 "multi_host groups:size=2", "bsp supersteps"}) {
    INFO(name);
    for (int const ranks : {2, 4}) {
      REQUIRE(by_name.contains(name + std::to_string(ranks)));
      auto const& c = by_name.at(name + std::to_string(ranks));
      double const ideal = 0.01 * 60 / ranks;
      CHECK(c["by"] == "simulation");
      CHECK(c["simulated_runs"].get<int>() >= 3);
      CHECK(c["low"].get<double>() < c["seconds"].get<double>());
      CHECK(c["high"].get<double>() > c["seconds"].get<double>());
      CHECK(c["seconds"].get<double>() > 0.8 * ideal);
      CHECK(c["seconds"].get<double>() < 2.5 * ideal);
    }
  }
  // predict runs each skeleton once.
  std::string const one =
      "predict --simulate --model " + d.file("m.json") +
      " --platform cluster:ranks=4 --ranks 4 --set tasks=60 --rows 4 --read-seconds 0.001";
  auto const predicted = nlohmann::json::parse(run(one + " --json").text);
  CHECK(predicted.size() == 4);
  for (auto const& p : predicted) CHECK(p["seconds"].get<double>() == Approx(0.15).epsilon(0.5));
  CHECK(contains(run(one + " --skeleton farm --costs exponential:10ms").text, "one draw of the costs"));
  auto const with_rows_of = [&](std::string const& bytes) {
    auto const json = run(one + " --skeleton multi_host --row-bytes " + bytes + " --json").text;
    return nlohmann::json::parse(json).at(0)["seconds"].get<double>();
  };
  CHECK(with_rows_of("1048576") > with_rows_of("0"));
  // 60 tasks of 5 or 15 ms: a deviation of 39 ms of 600 ms, and that of the observed mean.
  auto const& farm = by_name.at("farm auto2");
  double const width = farm["high"].get<double>() / farm["low"].get<double>();
  CHECK(width > 1.15);
  CHECK(width < 1.8);
  // Tasks that all cost the mean: the scatter of the samples, 1 %, remains.
  auto const means = nlohmann::json::parse(run(compare + " --json").text)["candidates"];
  for (auto const& c : means) {
    INFO(c.dump());
    CHECK(c["high"].get<double>() / c["low"].get<double>() > 1.01);
    CHECK(c["high"].get<double>() / c["low"].get<double>() < 2);
  }
}

TEST_CASE("a divide-and-conquer is simulated with the model's cost of one rank") {
  test::temporary_directory const d;
  std::string csv = head;
  for (int const n : {1000, 2000, 4000})
    for (int const m : {2000, 4000, 9000})
      csv += "2,p,divide_and_conquer,hypercube,everywhere,1,1,sequential,0,," +
             std::to_string(1e-3 * (n + m)) + ",,,,,,N=" + std::to_string(n) + ";M=" + std::to_string(m) +
             "\n";
  test::write_file(d.file("s.csv"), csv);
  REQUIRE(run("fit " + d.file("s.csv") + " --halved M --basis 'N + M' -o " + d.file("m.json")).code == 0);
  auto const compare =
      "compare --simulate --model " + d.file("m.json") + " --platform cluster:ranks=2 --ranks 1 ";
  auto const r = success(run(compare + "--set N=3000 --set M=6000 --json"));
  // The blocks are measured twice on this machine, which is noisy for so small a graph.
  double const seconds = nlohmann::json::parse(r)["candidates"][0]["seconds"];
  CHECK(seconds > 9.0 / 5);
  CHECK(seconds < 9.0 * 5);
  auto const missing = run(compare + "--set N=3000");
  CHECK(missing.code == 2);
  CHECK(missing.text ==
        "skel-model: --simulate of divide_and_conquer: missing number of edges, expected for example --set "
        "M=1000\n");
}

TEST_CASE("compare --simulate says what is missing") {
  test::temporary_directory const d;
  auto const bad = [&](std::string const& samples, std::string const& options) {
    test::write_file(d.file("s.csv"), head + samples);
    success(
        run("fit " + d.file("s.csv") + " --basis 1 --basis run.busy_seconds=tasks -o " + d.file("m.json")));
    return test::refusal(run("compare --model " + d.file("m.json") + " --ranks 2 " + options));
  };
  std::string const cluster = "--simulate --platform cluster:ranks=4 ";
  auto const farm = samples_of("farm", "auto", "streamed");
  CHECK(bad(farm, cluster) ==
        "--simulate of farm: missing number of tasks, expected for example --set tasks=1000");
  CHECK(bad(farm, "--simulate --set tasks=10") == "--simulate: expected --machine FILE.json or --platform");
  CHECK(contains(bad(farm, "--set tasks=10 --schedules ring"), "--schedules requires --simulate"));
  CHECK(
      contains(bad(farm, cluster + "--set tasks=10 --schedules nonsense"), "unknown schedule \"nonsense\""));
  CHECK(bad(farm, cluster + "--set tasks=10 --costs /nonexistent.json") ==
        "/nonexistent.json: cannot be read, expected a trace (--trace of a run)");
  test::write_file(d.file("t.json"), "{}");
  CHECK(bad(farm, cluster + "--set tasks=10 --costs " + d.file("t.json")) ==
        d.file("t.json") + ": found no traceEvents, expected a trace (--trace of a run)");
  test::write_file(d.file("t.json"), trace_of({1}));
  CHECK(bad(farm, cluster + "--set tasks=10 --costs " + d.file("t.json")) ==
        d.file("t.json") + ": found 1 compute spans with tasks, expected at least 2");
  auto const groups = samples_of("multi_host", "groups:size=2", "on_hosts");
  CHECK(bad(groups, cluster + "--set tasks=10") == "--simulate of multi_host: missing --rows N");
  CHECK(bad(groups, cluster + "--set tasks=10 --rows 4") ==
        "--simulate of multi_host: missing --read-seconds SECONDS");
  CHECK(contains(bad(groups, cluster + "--set tasks=10 --rows 4 --read-seconds 1"),
                 "--read-seconds: expected less than the busy seconds per unit"));
  CHECK(bad(groups, cluster + "--set tasks=10 --schedules ring") ==
        "--schedules: the model contains no farm");
  CHECK(bad(samples_of("bsp", "supersteps", "in_parts"), cluster + "--set tasks=10") ==
        "--simulate of bsp: missing --message-bytes N, which the samples do not contain");
  CHECK(bad(samples_of("other", "", ""), cluster + "--set tasks=10") ==
        "--simulate: expected farm, ring_steal, divide_and_conquer, multi_host or bsp, found \"other\"");
}

TEST_CASE("predict --simulate names the size that the model needs beside the tasks") {
  test::temporary_directory const d;
  std::string text = head;
  for (int n = 1; n <= 8; ++n)
    text += "2,p,farm,auto,streamed,1,1,run,,64," + std::to_string(n) + "," + std::to_string(n) +
            ",0,0,10,1000,n=" + std::to_string(1000 * n) + "\n";
  test::write_file(d.file("s.csv"), text);
  REQUIRE(run("fit " + d.file("s.csv") + " -o " + d.file("m.json")).code == 0);
  auto const predict = "predict --simulate --platform cluster:ranks=4 --ranks 4 --model " + d.file("m.json") +
                       " --set tasks=100";
  CHECK(test::refusal(run(predict)) ==
        "--simulate of farm: the model depends on n, set n as well: --set n=…");
  success(run(predict + " --set n=4000"));
}

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
  auto const r = success(run("predict --model " + d.file("m.json") + " --machine " + paper +
                             "machine.json --simulate --tree binomial:b=200,q=0.12,m=8,r=1 --ranks 2"));
  CHECK(contains(r, "simulated run"));
}
#endif

TEST_CASE("plots are written") {
  test::temporary_directory const d;
  REQUIRE(run(fit_paper + " -o " + d.file("m.json")).code == 0);
  success(run("plot --model " + d.file("m.json") + " --machine " + paper + "machine.json --bytes '4*N' " +
              paper + "table-1.csv " + paper + "table-4.csv -o " + d.file("p.svg")));
  CHECK(contains(test::read_file(d.file("p.svg")), "Predicted time of whole runs"));
  auto const points = run("plot --json --model " + d.file("m.json") + " --machine " + paper +
                          "machine.json --bytes '4*N' " + paper + "table-1.csv " + paper + "table-4.csv");
  CHECK(points.code == 0);
  auto const figures = nlohmann::json::parse(points.text);
  REQUIRE(figures.size() >= 2);
  CHECK(figures[0]["title"] == "Predicted time of whole runs");
  CHECK(figures[0]["diagonal"] == true);
  CHECK(figures[0]["series"][0]["points"][0].size() == 2);
}

TEST_CASE("programs in one model are not compared with each other") {
  test::temporary_directory const d;
  std::string csv = head;
  for (auto const& [program, cost] : {std::pair("fast", 0.001), std::pair("slow", 1.0)})
    for (int tasks = 100; tasks <= 800; tasks *= 2)
      for (int ranks : {1, 2, 4, 8})  // a run on one rank sends nothing
        csv += "2," + std::string(program) + ",farm,guided:min=1,streamed," + std::to_string(ranks) +
               ",1,run,," + std::to_string(tasks) + "," + std::to_string(cost * tasks / ranks) + "," +
               std::to_string(cost * tasks) + ",0,0,10," + std::to_string(ranks == 1 ? 0 : 1000 * tasks) +
               ",\n";
  test::write_file(d.file("s.csv"), csv);
  auto const model = " --model " + d.file("m.json") + " --set tasks=1000";
  success(run("fit " + d.file("s.csv") + " -o " + d.file("m.json")));
  auto const text = nlohmann::json::parse(test::read_file(d.file("m.json"))).dump();
  CHECK(contains(text, "\"bytes\""));
  CHECK(test::refusal(run("compare --ranks 1,4" + model)) ==
        d.file("m.json") + ": the model has several programs, expected --program with one of: fast, slow");
  for (auto const& [program, seconds] : {std::pair("fast", 0.25), std::pair("slow", 250.0)}) {
    auto const r = run("predict --json --ranks 4 --program " + std::string(program) + model);
    REQUIRE(r.code == 0);
    CHECK(nlohmann::json::parse(r.text)[0]["seconds"].get<double>() == Approx(seconds).epsilon(0.02));
  }
  CHECK(test::refusal(run("fit " + d.file("s.csv") + " --basis run=tasks --basis run.byte=tasks")) ==
        "--basis run.byte: no such term, known: run, run.busy_seconds, run.bytes");
  CHECK(test::refusal(run("fit " + d.file("s.csv") + " --basis run=1 --basis run.seconds=tasks")) ==
        "--basis run: found twice, expected once");
  CHECK(contains(test::refusal(run("predict --ranks 4 --program fast --platform x" + model)), "--simulate"));
}

TEST_CASE("a variable that is 0 in all samples does not keep predict busy") {
  test::temporary_directory const d;
  // So noisy that they do not decide between two functions of N; predict looks for a size that does.
  double const seconds[] = {0.0958, 0.0917, 0.0756, 0.1673, 0.1969, 0.1844,
                            0.5636, 0.4248, 0.4748, 1.2451, 1.4762, 1.1891};
  std::string csv = head;
  for (int i = 0; i < 12; ++i)
    csv += "2,p,farm,guided:min=1,streamed,1,1,run,,100," + std::to_string(seconds[i]) +
           ",,,,,,N=" + std::to_string(1000 << i / 3) + ";overlap=0\n";
  test::write_file(d.file("s.csv"), csv);
  success(run("fit " + d.file("s.csv") + " -o " + d.file("m.json")));
  auto const r = run("predict --model " + d.file("m.json") + " --set overlap=1 --set N=32000 --ranks 1");
  CHECK(r.code == 0);  // not that of the time limit of run()
  CHECK(contains(r.text, "the samples do not decide between"));
}

TEST_CASE("errors give one line and exit code 2") {
  test::temporary_directory const d;
  auto const bad = [&](std::string const& arguments) { return test::refusal(run(arguments)); };
  CHECK(
      bad("predcit --model m.json") ==
      "The following argument was not expected: predcit; did you mean predict? --help lists the subcommands");
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
  CHECK(bad("plot") == "plot: expected -o FILE.svg or --json, found neither");
  CHECK(bad("plot -o " + d.file("p.svg")) ==
        "nothing to plot, expected --model FILE.json with samples, or --machine FILE.json");
  CHECK(contains(bad("plot --machine " + paper + "machine.json -o " + d.file("p.png")), "unknown extension"));
  CHECK(contains(bad(fit_paper + " --plot " + d.file("p.png")), "unknown extension"));
  CHECK(contains(bad("fit " + paper + "table-1.csv -o /nonexistent/m.json"), "/nonexistent/m.json: "));
  CHECK(bad("calibrate") == "calibrate: expected at least 2 ranks: mpiexec -n 4 skel-model calibrate …");
}

TEST_CASE("fit warns of samples that differ in a text") {
  test::temporary_directory const d;
  auto const row = [](std::string const& seconds, std::string const& scene) {
    return "2,p,farm,,,1,1,run,0,10," + seconds + ",,,,,,N=4;scene=" + scene + "\n";
  };
  test::write_file(d.file("s.csv"), head + row("1", "gears") + row("9", "balls") + row("1.1", "gears"));
  auto const fit = "fit " + d.file("s.csv") + " --basis 1 --json";
  auto const warned = [&](std::string const& more) {
    return contains(
        success(run(fit + more)),
        "skel-model: warning: p: one fit for scene balls, gears: select with --only scene=balls\n");
  };
  CHECK(warned(""));
  CHECK(!warned(" --only scene=gears"));
}

TEST_CASE("help and version are printed") {
  CHECK(run("--help").code == 0);
  CHECK(contains(run("--help").text, "calibrate"));
  CHECK(run("calibrate --help").code == 0);
  CHECK(contains(run("--version").text, "skel-model "));
}
