// skel-simulate as users start it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "observe/support.hpp"
#include "outcome.hpp"

namespace {

auto simulate(std::string const& arguments) { return test::run_program(SKEL_SIMULATE, arguments, 300); }

struct folder : test::temporary_directory {
  using temporary_directory::file;
  [[nodiscard]] std::string file(std::string const& name, std::string const& content) const {
    test::write_file(file(name), content);
    return file(name);
  }
  /// The report of a simulation that must succeed.
  [[nodiscard]] nlohmann::json report(std::string const& arguments) const {
    test::success(simulate(arguments + " --report " + file("r.json")));
    std::ifstream written(file("r.json"));
    return nlohmann::json::parse(written);
  }
};

nlohmann::json read(std::string const& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace

TEST_CASE("a batch of simulations") {
  folder const f;
  std::string runs;
  for (int tasks = 1; tasks <= 5; ++tasks)
    runs += "--platform\ncluster:ranks=2\n--tasks\n" + std::to_string(tasks) +
            "\n--costs\nconstant:1s\n--quiet\n" + "--report\n" + f.file("r" + std::to_string(tasks)) + "\n\n";
  CHECK(test::success(simulate("--batch " + f.file("batch", runs))).empty());
  for (int tasks = 1; tasks <= 5; ++tasks) {
    auto const report = read(f.file("r" + std::to_string(tasks)));
    CHECK(report["tasks"] == tasks);
    CHECK(report["seconds"].get<double>() == Approx((tasks + 1) / 2).epsilon(0.01));
  }
  auto const bad =
      test::refusal(simulate("--batch " + f.file("bad", "--tasks\n1\n--quiet\n\n--tasks\nmany\n")));
  CHECK(bad.find("--tasks: ") != std::string::npos);
  CHECK(simulate("--batch " + f.file("empty", "\n")).text.find("contains no run") != std::string::npos);
  // More machines than the system allows stacks.
  std::size_t mappings = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
  if (auto const machines = std::min<std::size_t>(mappings / 2, 65536); mappings > 0 && mappings < 131072) {
    auto const many = test::refusal(
        simulate("--platform cluster:ranks=" + std::to_string(machines) + " --tasks 1 --costs constant:1s"));
    CHECK(many.find("raise it with sysctl -w vm.max_map_count=") != std::string::npos);
  }
  CHECK(simulate("--batch /nonexistent").text.find("/nonexistent: cannot be read") != std::string::npos);
}

#if SKEL_SIMULATE_SEARCH
TEST_CASE("ring_steal runs a list of tasks") {
  folder const f;
  auto const report = f.report(
      "--skeleton ring_steal --platform cluster:ranks=8 --tasks 400 --costs uniform:8ms,12ms --quiet");
  CHECK(report["tasks"] == 400);
  CHECK(report["cost_seconds_at_power_1"].get<double>() == Approx(4.0).epsilon(0.02));
  CHECK(report["efficiency"].get<double>() > 0.9);
  CHECK(simulate("--skeleton ring_steal --tree T3 --tasks 4").code == 2);
}
#endif

TEST_CASE("a report in virtual seconds, the same each time") {
  folder const f;
  std::string texts[2];
  for (auto& text : texts) {
    auto const printed = test::success(
        simulate("--platform lee-1997-14 --tasks 512 --costs exponential:1s --schedule guided --report " +
                 f.file("r.json") + " --trace " + f.file("t.json")));
    CHECK(printed.find("efficiency") != std::string::npos);
    std::ifstream file(f.file("r.json"));
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(texts[0] == texts[1]);
  auto const report = read(f.file("r.json"));
  CHECK(report["ranks"] == 14);
  CHECK(report["tasks"] == 512);
  CHECK(report["simulated"] == true);
  CHECK(report["per_rank"].size() == 14);
  CHECK(report["per_rank"][13]["host"] == "sparc-20");
  CHECK_FALSE(report["per_rank"][0].contains("peak_memory_bytes"));
  double const efficiency = report["efficiency"];
  CHECK(efficiency > 0.8);
  CHECK(efficiency < 1);
  CHECK(read(f.file("t.json"))["traceEvents"].size() > 512);
}

TEST_CASE("with --longest-first, a giant at the end of the list begins at once") {
  folder const f;
  std::string costs;  // one giant at the end of the list, as long as a rank's share
  for (int i = 0; i < 511; ++i) costs += std::to_string(1 + i % 7) + "e-2\n";
  costs += "5e-1\n";
  auto const file = f.file("costs.csv", costs);
  for (std::string const schedule : {"auto", "blocks", "first-come", "guided", "hybrid", "ring"}) {
    INFO(schedule);
    double efficiency[2];
    for (bool const known : {false, true}) {
      efficiency[known ? 1 : 0] =
          f.report("--platform cluster:ranks=40 --costs " + file + " --schedule " + schedule +
                   (known ? " --longest-first" : "") + " --trace " + f.file("t.json"))["efficiency"];
      auto const trace = read(f.file("t.json"));
      double begin = 1e300;  // of the giant; copies of it come later
      for (auto const& e : trace["traceEvents"])
        if (e["name"] == "compute" && e["args"]["first_task"] == 511)
          begin = std::min(begin, e["ts"].get<double>());
      CHECK((begin < 1e3) == known);
    }
    CHECK(efficiency[0] < 0.8);
    CHECK(efficiency[1] > (schedule == "blocks" || schedule == "ring" ? 0.85 : 0.95));
  }
}

TEST_CASE("auto copies a giant task of a slow rank while others still run") {
  folder const f;
  std::string costs;
  for (int i = 0; i < 4096; ++i) costs += i == 100 ? "20\n" : "0.1\n";
  auto const seconds = [&](std::string const& schedule) {
    return f
        .report("--platform uneven:ranks=64,seed=1 --costs " + f.file("costs.csv", costs) + " --schedule " +
                schedule)["seconds"]
        .get<double>();
  };
  CHECK(seconds("auto") < 0.8 * seconds("first-come"));
}

TEST_CASE("costs from files") {
  folder const f;
  auto const plain = f.file("costs.csv", "seconds\n1\n2.5\r\n0\n1e-3\n");
  auto const once = f.report("--costs " + plain);
  CHECK(once["tasks"] == 4);
  CHECK(once["cost_seconds_at_power_1"] == Approx(3.501));
  CHECK(f.report("--tasks 9 --costs " + plain)["cost_seconds_at_power_1"] == Approx(2 * 3.501 + 1));
  auto const samples =
      f.file("samples.csv",
             "schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,"
             "seconds,busy_seconds,idle_seconds,communication_seconds,messages,bytes,problem\n"
             "2,p,farm,\"hybrid:cut=5,threshold=1\",streamed,2,1,run,,100,1,50,0,0,1,1,\n"
             "2,p,farm,guided,streamed,2,1,divide,0,,1,,,,,1,\n"
             "2,p,farm,guided,streamed,2,1,run,,300,1,70,0,0,1,1,\n");
  CHECK(f.report("--tasks 10 --costs " + samples)["cost_seconds_at_power_1"] == Approx(10 * 120.0 / 400));
}

TEST_CASE("ranks fail") {
  folder const f;
  auto r = simulate("--tasks 200 --costs constant:1s --fail 3@2 --fail 12@4.5s --quiet --report " +
                    f.file("r.json"));
  CHECK(r.text.empty());
  REQUIRE(r.code == 0);
  CHECK(read(f.file("r.json"))["lost_ranks"] == nlohmann::json::array({3, 12}));
  CHECK(read(f.file("r.json"))["tasks_handed_out_again"] > 0);
  r = simulate("--tasks 28 --costs constant:1s --quiet --fail 3@90s --fail 4@1ms --fail 5@29results");
  CHECK(r.code == 0);
  CHECK(test::contains(r.text, "skel-simulate: --fail 3@90s never came: the run ended after "));
  CHECK_FALSE(test::contains(r.text, "--fail 4@1ms"));
  CHECK(test::contains(r.text,
                       "skel-simulate: --fail 5@29results never came: the root received only 28 results\n"));
  r = simulate("--tasks 200 --costs constant:1s --fail 0@2");
  CHECK(r.code == 1);
  CHECK(r.text == "skel-simulate: the root (rank 0) was lost\n");
}

#if SKEL_SIMULATE_SEARCH
TEST_CASE("a search goes on when ranks fail, and counts every node once") {
  folder const f;
  std::string const search =
      "--skeleton ring_steal --platform cluster-1024 --ranks 256 --tree geometric:shape=fixed,d=7,b=4,r=19 "
      "--costs constant:0.001 --quiet --suspect-after 20ms";
  auto const whole = f.report(search);
  CHECK(whole["lost_ranks"].empty());
  std::string fails;
  for (int rank = 15; rank < 256; rank += 16)  // sixteen, while the tree spreads and while it ends
    fails += " --fail " + std::to_string(rank) + "@" + std::to_string(rank) + "ms";
  auto const report = f.report(search + fails);
  CHECK(report["lost_ranks"].size() == 16);
  CHECK(report["tasks"] == whole["tasks"]);
  CHECK(report["tasks"] > 10000);
}
#endif

#if SKEL_SIMULATE_COMPONENTS
TEST_CASE("divide and conquer on real graphs in virtual time") {
  folder const f;
  std::string const graphs =
      "--skeleton divide_and_conquer --platform pentium4-14 --quiet --generate "
      "uniform:n=20000,m=30000,seed=1 --generate grid:width=90,height=70 --repetitions 2 ";
  auto const report_of = [&](std::string const& arguments) { return f.report(graphs + arguments); };
  auto const trace = f.file("t.csv");
  auto const first = report_of("--ranks 5 --record " + trace + " --samples " + f.file("s.csv"));
  CHECK(first["skeleton"] == "divide_and_conquer");
  auto const again = report_of("--ranks 5 --replay " + trace);
  CHECK(again["seconds"] == first["seconds"]);
  CHECK(report_of("--ranks 5 --cost-scale 3 --replay " + trace)["cost_seconds_at_power_1"].get<double>() ==
        Approx(3 * first["cost_seconds_at_power_1"].get<double>()));
  auto const noisy = report_of("--ranks 5 --noise 0.05 --seed 7 --replay " + trace);
  CHECK(noisy["cost_seconds_at_power_1"] != first["cost_seconds_at_power_1"]);
  CHECK(noisy == report_of("--ranks 5 --noise 0.05 --seed 7 --replay " + trace));
  CHECK(noisy != report_of("--ranks 5 --noise 0.05 --seed 8 --replay " + trace));
  // A run and its phases, four times.
  std::ifstream samples(f.file("s.csv"));
  int runs = 0;
  for (std::string line; std::getline(samples, line);)
    runs += line.find(",run,") != std::string::npos ? 1 : 0;
  CHECK(runs == 4);
  for (std::string const kind : {"tree", "embarrassing"})
    for (std::string const ranks : {"1", "2", "7"})
      CHECK(report_of("--kind " + kind + " --local dfs --exchange dense --ranks " + ranks)["seconds"] > 0);

  auto const wrong = [&](std::string const& arguments, std::string const& expected) {
    auto const r = simulate(graphs + arguments);
    INFO(r.text);
    CHECK(r.code != 0);
    CHECK(r.text.find(expected) != std::string::npos);
  };
  wrong("--ranks 6 --replay " + trace, "t.csv: missing ");
  wrong("--replay " + f.file("bad.csv", "seconds\n1\n"),
        "bad.csv:1: expected a first line call,rank,phase,number,seconds, found \"seconds\"");
  wrong("--replay " + f.file("bad.csv", "call,rank,phase,number,seconds\n0,0,solve,0,nan\n"),
        "bad.csv:2: expected");
  wrong("--generate uniform:n=x", "uniform");
}
#endif

TEST_CASE("a simulated cluster's message costs are written as a machine file") {
  folder const f;
  test::success(
      simulate("--skeleton calibrate --platform pentium4-14 --ranks 4 --machine " + f.file("m.json")));
  CHECK(read(f.file("m.json"))["name"] == "pentium4-14");
  CHECK(test::refusal(simulate("--skeleton calibrate --platform pentium4-14")) ==
        "--skeleton calibrate: missing --machine FILE.json");
}

namespace {

// The report of groups on the Delta, whose slices take 2 s.
nlohmann::json report_of_groups(folder const& f, std::string const& arguments) {
  return f.report("--skeleton multi_host --platform delta-256 --read-seconds 2 --quiet " + arguments);
}

}  // namespace

TEST_CASE("groups whose hosts read as was traced, row by row") {
  folder const f;
  // Six layers of two rows. A share that begins with layer 3 takes 9 s to read where one that goes on
  // takes 2.
  std::string text = "what,layer,row,seconds,bytes\n";
  for (auto const* kind : {"first", "next"})
    for (int layer = 0; layer < 6; ++layer)
      for (int row = 0; row < 2; ++row)
        text += fmt::format("{},{},{},{},\n", kind, layer, row,
                            layer == 0                                      ? 2
                            : std::string_view(kind) == "first" && row == 0 ? 8
                                                                            : 1);
  for (int layer = 0; layer < 6; ++layer)
    text +=
        fmt::format("row,{0},0,5,20\nrow,{0},1,5,30\npacket,{0},0,,200000\npacket,{0},1,,300000\n", layer);
  auto const trace = f.file("layers.csv", text);
  auto const seconds = [&](std::string const& arguments) {
    return report_of_groups(f,
                            "--unit-seconds 10 --without split --without reassign "
                            "--layer-costs " +
                                trace + " " + arguments)["seconds"]
        .get<double>();
  };
  // One host: 4 + 5 * 2 = 14 traced seconds, as many as 7 slices of 2 s.
  CHECK(seconds("--ranks 1 --group-size 1") == Approx(14 + 60).epsilon(0.001));
  // Two hosts: the second one begins with layer 3.
  CHECK(seconds("--ranks 2 --group-size 1") == Approx(9 + 2 * 2 + 30).epsilon(0.001));
  // A worker processes the first row, of 0.2 MB at 10 MB/s, when it is read: the second one is read
  // meanwhile.
  CHECK(seconds("--ranks 2 --group-size 2 --without host-helps") == Approx(2 + 0.02 + 60).epsilon(0.005));
  CHECK(seconds("--ranks 2 --group-size 2 --without host-helps --without rows") ==
        Approx(4 + 0.02 + 60).epsilon(0.005));
  // A packet of n rows has n + 1: those of 24 rows have at least 25.
  auto const bytes = [&](std::string const& row_bytes) {
    return report_of_groups(f,
                            "--ranks 2 --group-size 2 --without host-helps --units 6 --rows 4 --row-bytes " +
                                row_bytes)["bytes"]
        .get<double>();
  };
  auto const of_rows = bytes("1000") - bytes("0");
  CHECK(of_rows >= 25 * 1000);
  CHECK(bytes("2000") - bytes("0") == Approx(2 * of_rows).epsilon(0.02));
  auto const wrong = [&](std::string const& lines, std::string const& expected) {
    auto const path = f.file("bad.csv", "what,layer,row,seconds,bytes\n" + lines);
    CHECK(test::refusal(simulate("--skeleton multi_host --layer-costs " + path))
              .starts_with(path + ": " + expected));
  };
  wrong("row,0,0,1,1\nfirst,0,0,1,\n", "expected a line first and a line next for each row");
  wrong("row,0,0,1,1\nfirst,0,0,1,\nnext,0,0,1,\nslice,0,,1,\n", "expected a line first and a line next");
  wrong("row,0,0,1,1\nslice,0,,1,\n", "1 slices and 1 layers, expected one slice more than layers");
  wrong("slice,0,,1,\n", "expected rows");
  CHECK(test::refusal(simulate("--skeleton multi_host --result-bytes 3 --layer-costs " + trace)) ==
        "--result-bytes: a file of --layer-costs has the bytes of results");
}

TEST_CASE("hosts that write the results of their layers to a few disks") {
  folder const f;
  // Six layers of two rows of 20 and 30 bytes. A layer takes 10 s to process and 5 s to write.
  std::string text = "what,layer,row,seconds,bytes\n";
  for (int k = 0; k <= 6; ++k) text += fmt::format("slice,{},,1,\n", k);
  for (int layer = 0; layer < 6; ++layer) text += fmt::format("row,{0},0,1,20\nrow,{0},1,1,30\n", layer);
  auto const trace = f.file("layers.csv", text);
  auto const seconds = [&](std::string const& arguments) {
    return report_of_groups(f, "--group-size 1 --unit-seconds 10 --without reassign --layer-costs " + trace +
                                   " " + arguments)["seconds"]
        .get<double>();
  };
  std::string const writes = "--write-bandwidth 10 --ranks ";
  CHECK(seconds("--ranks 1") == Approx(7 * 2 + 6 * 10).epsilon(0.001));
  CHECK(seconds(writes + "1") == Approx(7 * 2 + 6 * (10 + 5)).epsilon(0.001));
  CHECK(seconds(writes + "1 --sink root") == Approx(7 * 2 + 6 * (10 + 5)).epsilon(0.001));
  // Six hosts with a layer each. All have read it and processed it after 14 s, and want to write.
  std::string const six = writes + "6 --computed-slices --disks ";
  CHECK(seconds(writes + "6") == Approx(4 + 10 + 5).epsilon(0.002));
  CHECK(seconds(six + "6") == Approx(4 + 10 + 5).epsilon(0.002));
  CHECK(seconds(six + "2") == Approx(4 + 10 + 3 * 5).epsilon(0.002));
  CHECK(seconds(six + "1") == Approx(4 + 10 + 6 * 5).epsilon(0.002));
  // Two disks that are read as well: pairs of hosts read until 4, 8 and 12 s, and are ready to write 10 s
  // later. Each then waits for the pair before it: the disks write from 14 to 29 s.
  CHECK(seconds(writes + "6 --disks 2") == Approx(14 + 3 * 5).epsilon(0.002));
}

TEST_CASE("groups whose layers cost what was traced") {
  folder const f;
  std::string text = "what,layer,row,seconds,bytes\n";
  for (int k = 0; k <= 6; ++k) text += "slice," + std::to_string(k) + ",,0.5,\n";
  for (int layer = 0; layer < 6; ++layer)  // the second half of the layers has no surface
    for (int row = 0; row < 4; ++row)
      text += "row," + std::to_string(layer) + "," + std::to_string(row) + "," + (layer < 3 ? "3" : "0") +
              (layer < 3 ? ",20\n" : ",0\n");
  auto const trace = f.file("layers.csv", text);
  auto const report_of = [&](std::string const& arguments) {
    return report_of_groups(f, "--unit-seconds 30 --layer-costs " + trace + " " + arguments);
  };
  auto const alone = report_of("--ranks 1 --group-size 1");
  CHECK(alone["cost_seconds_at_power_1"] == Approx(7 * 2 + 6 * 30));
  CHECK(alone["seconds"].get<double>() == Approx(7 * 2 + 6 * 30).epsilon(0.001));
  CHECK(alone["tasks"] == 6);
  // Two groups without re-assignment: the first one's three layers have all the work.
  CHECK(report_of("--ranks 2 --group-size 1 --without reassign")["seconds"].get<double>() ==
        Approx(4 * 2 + 6 * 30).epsilon(0.001));
  CHECK(report_of("--ranks 2 --group-size 1")["seconds"].get<double>() < 4 * 2 + 6 * 30 - 40);
  // In 60 layers the second of two groups is through early, and leads layers of the first one.
  auto const long_run = [&](std::string const& more) {
    return f
        .report(
            "--skeleton multi_host --platform delta-256 --ranks 2 --group-size 1 --units 60 --rows 8 "
            "--read-seconds 1 --unit-seconds 10 --surface-share 0.5 --quiet" +
            more)["groups"]["split"]
        .get<int>();
  };
  CHECK(long_run("") > 0);
  CHECK(long_run(" --without split") == 0);
  std::string const head = "what,layer,row,seconds,bytes\n";
  auto const wrong = [&](std::string const& content, std::string const& expected) {
    auto const path = f.file("bad.csv", content);
    CHECK(
        test::refusal(simulate("--skeleton multi_host --layer-costs " + path)).starts_with(path + expected));
  };
  wrong("seconds\n1\n", ":1: expected a first line what,layer");
  wrong(head + "slice,1,,1,\n", ":2: expected slice 0");
  wrong(head + "slice,0,,nan,\n", ":2: expected seconds");
  wrong(head + "slice,0,,1,\nrow,0,1,1,1\n", ":3: expected the next row");
  wrong(head + "row,1,0,1,1\n", ":2: expected the next row");
  wrong(head + "row,0,0,1,-1\n", ":2: expected bytes");
  wrong(head + "row,0,0,1\n", ":2: expected five fields");
  wrong(head + "slice,0,,1,\nrow,0,0,1,1\n", ": 1 slices and 1 layers, expected one slice more");
}

TEST_CASE("supersteps take the time that was computed by hand") {
  folder const f;
  auto const platform = f.file("p.json", R"({"name": "p", "hosts": [{"name": "n", "count": 5}], "network": {)"
                                         R"("kind": "switch", "latency_seconds": 1e-3, )"
                                         R"("bandwidth_bytes_per_second": 1e6}})");
  auto const report_of = [&](std::string const& arguments) {
    return f.report("--skeleton bsp --platform " + platform + " --quiet " + arguments);
  };
  // A rank's messages leave one link: the exchange after each superstep but the last takes a
  // latency and its bytes over the bandwidth. Headers, the start and the end of the run are not
  // counted; they take less than 10 latencies.
  constexpr double slack = 0.01;
  for (int const ranks : {1, 2, 3, 5})
    for (int const steps : {1, 10})
      for (std::string const pattern : {"ring", "neighbours", "all"}) {
        auto const r =
            report_of("--costs constant:1s --message-bytes 10000 --ranks " + std::to_string(ranks) +
                      " --supersteps " + std::to_string(steps) + " --pattern " + pattern);
        int const sent = ranks == 1 ? 0 : pattern == "all" ? ranks - 1 : 2;
        double const exchange = ranks == 1 ? 0 : 1e-3 + sent * 1e4 / 1e6;
        double const expected = steps + (steps - 1) * exchange;
        // The barrier has ceil(log2 ranks) rounds. Neighbours need it in the first superstep only.
        int const rounds = ranks == 1 ? 0 : ranks == 2 ? 1 : ranks == 3 ? 2 : 3;
        double const barriers = (pattern == "neighbours" ? 1 : steps) * rounds * 1e-3;
        INFO(ranks << " ranks, " << steps << " supersteps, " << pattern);
        CHECK(r["seconds"].get<double>() >= expected);
        CHECK(r["seconds"].get<double>() <= expected + barriers + (ranks == 1 ? 1e-9 : slack));
        CHECK(r["ideal_seconds"].get<double>() == Approx(steps));
        CHECK(r["efficiency"].get<double>() == Approx(steps / r["seconds"].get<double>()));
        CHECK(r["skeleton"] == "bsp");
        CHECK(r["tasks"] == steps);
        CHECK(r["ranks"] == ranks);
        auto const payload = static_cast<std::uint64_t>(ranks * (steps - 1) * sent) * 10000;
        CHECK(r["bytes"].get<std::uint64_t>() >= payload);
        CHECK(r["bytes"].get<std::uint64_t>() <= payload + 200 * r["messages"].get<std::uint64_t>());
        // Messages for the next rank travel with the first round of the barrier.
        int const others = ranks == 1 ? 0 : pattern == "all" ? ranks - 2 : ranks == 2 ? 0 : 1;
        int const links = ranks == 1 ? 0 : ranks == 2 ? 1 : 2;
        int const least = pattern == "neighbours"
                              ? ranks * (rounds + others * (steps > 1) + links * (steps - 1))
                              : ranks * (rounds * steps + others * (steps - 1));
        // The root may end the run before the others have sent their last tallies.
        CHECK(r["messages"].get<int>() >= least - ranks * rounds);
        CHECK((r["messages"] == 0) == (ranks == 1));
      }
  // Rank 3 dies at 2 s and is declared dead a second later. The others begin again with five shares
  // on four ranks, so each of the 10 supersteps takes 2 s.
  auto const lost =
      report_of("--costs constant:1s --supersteps 10 --message-bytes 0 --fail 3@2s --suspect-after 1s");
  CHECK(lost["lost_ranks"] == nlohmann::json::array({3}));
  CHECK(lost["tasks_handed_out_again"] == 2);
  CHECK(lost["seconds"].get<double>() > 2 + 20);
  CHECK(lost["seconds"].get<double>() < 2 + 20 + 2);
}

TEST_CASE("a superstep costs its messages and a barrier; neighbours need none") {
  folder const f;
  auto const messages = [&](std::string const& pattern, int steps) {
    return f
        .report(
            "--skeleton bsp --platform cluster:ranks=5 --ranks 5 --costs constant:0.001us --quiet "
            "--pattern " +
            pattern + " --supersteps " + std::to_string(steps))["messages"]
        .get<int>();
  };
  auto const per_superstep = [&](std::string const& pattern) {
    return (messages(pattern, 300) - messages(pattern, 100)) / 200.0;
  };
  CHECK(per_superstep("neighbours") == Approx(10).epsilon(0.01));
  // Three rounds and a message to the rank before; the one to the rank after travels with the first round.
  // Ranks that are sent more than they send acknowledge every 16th message.
  CHECK(per_superstep("ring") >= 20);
  CHECK(per_superstep("ring") <= 20 * (1 + 1 / 16.0));
}

TEST_CASE("supersteps print the same bytes each time, and the slowest share ends each") {
  folder const f;
  std::string const run =
      "--skeleton bsp --platform lee-1997-14 --ranks 13 --supersteps 20 --costs exponential:100ms --report " +
      f.file("r.json") + " --seed ";
  std::string texts[2];
  for (auto& text : texts) {
    text = test::success(simulate(run + "7"));
    std::ifstream file(f.file("r.json"));
    text += std::string(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(texts[0] == texts[1]);
  CHECK(texts[0].find("\nsupersteps         20, ") != std::string::npos);
  CHECK(texts[0].find("\nefficiency ") != std::string::npos);
  CHECK(texts[0].find("\nmessages per rank ") != std::string::npos);
  CHECK(simulate(run + "8").text != texts[0]);
  auto const report = read(f.file("r.json"));
  CHECK(report["costs"] == "exponential:100ms");
  CHECK(report["efficiency"].get<double>() < 0.8);
  // Costs from a file go round: superstep by superstep, rank by rank.
  auto const from_file = f.report("--skeleton bsp --platform delta-256 --ranks 2 --supersteps 3 --costs " +
                                  f.file("costs.csv", "1\n4\n2\n") + " --message-bytes 0");
  CHECK(from_file["cost_seconds_at_power_1"] == Approx(14));
  CHECK(from_file["seconds"].get<double>() == Approx(4 + 2 + 4).epsilon(0.01));
}

TEST_CASE("errors are one line, with exit code 2") {
  folder const f;
  auto const says = [](std::string const& arguments, std::string const& expected) {
    INFO(arguments);
    CHECK(test::refusal(simulate(arguments)).starts_with(expected));
  };
  says("--platform nothing --tasks 1", "unknown platform \"nothing\"; known: lee-1997-14, ");
  says("--platform " + f.file("bad.json", "{\"hosts\": 3}") + " --tasks 1",
       f.file("bad.json") + ": hosts: expected a list of at least one host, found 3");
  says("--ranks 15 --tasks 1", "platform lee-1997-14 has 1 to 14 ranks, not 15");
  says("--costs constant:1s", "--costs: missing --tasks");
  says("--costs constant --tasks 1", "costs \"constant\": expected constant:C");
  says("--costs pareto:1,1 --tasks 1", "costs \"pareto:1,1\": expected pareto:LEAST,SHAPE");
  says("--costs " + f.file("bad.csv", "1\nmuch\n"), f.file("bad.csv") + ":2: expected a number of seconds");
  says("--tasks 1 --fail 14@1", "--fail: found rank 14, expected 0 to 13");
  says("--tasks 1 --fail x", "--fail: expected RANK@SECONDS or RANK@Nresults, found \"x\"");
  says("--skeleton ring_steal --fail 1@5results",
       "--fail 1@5results: results are counted only in a farm, expected RANK@SECONDS for ring_steal");
  says("--tasks 1 --schedule nonsense", "--schedule: unknown schedule \"nonsense\"");
  says("--tasks 1 --skeleton ring", "--skeleton: ");
  says("--tasks 1 --report /nowhere/r.json", "/nowhere/r.json: ");
  says("--tasks 1 --colour",
       "The following argument was not expected: --colour; --help-all lists the options");
  for (std::string const option : {"--schedule ring", "--results concentrated", "--root serves"})
    for (std::string const skeleton : {"multi_host", "calibrate"})
      says("--skeleton " + skeleton + " " + option,
           option.substr(0, option.find(' ')) + " applies to --skeleton farm, not to " + skeleton);
  says("--skeleton multi_host --costs constant:1s",
       "--costs applies to --skeleton farm, ring_steal or bsp, not to multi_host");
  for (std::string const skeleton : {"multi_host", "calibrate", "bsp"})
    says("--skeleton " + skeleton + " --tasks 3",
         "--tasks applies to --skeleton farm or ring_steal, not to " + skeleton);
  for (std::string const option : {"--schedule ring", "--results concentrated", "--root serves"})
    says("--skeleton bsp " + option,
         option.substr(0, option.find(' ')) + " applies to --skeleton farm, not to bsp");
  says("--skeleton bsp --result-bytes 3",
       "--result-bytes applies to --skeleton farm or multi_host, not to bsp");
  says("--skeleton bsp --longest-first", "--longest-first applies to --skeleton farm, not to bsp");
  says("--skeleton bsp --units 5", "--units applies to --skeleton multi_host, not to bsp");
  says("--tasks 1 --supersteps 5", "--supersteps applies to --skeleton bsp, not to farm");
  says("--skeleton multi_host --pattern all", "--pattern applies to --skeleton bsp, not to multi_host");
  says("--skeleton bsp --supersteps 0", "--supersteps: ");
  says("--skeleton bsp --pattern star", "--pattern: ");
  says("--skeleton bsp --fail 1@5results",
       "--fail 1@5results: results are counted only in a farm, expected RANK@SECONDS for bsp");
  says("--tasks 1 --units 5", "--units applies to --skeleton multi_host, not to farm");
  says("--tasks 1 --machine m.json", "--machine applies to --skeleton calibrate, not to farm");
  CHECK(simulate("--help").code == 0);
  CHECK(simulate("--list-platforms").text.find("cluster-1024") != std::string::npos);
}
