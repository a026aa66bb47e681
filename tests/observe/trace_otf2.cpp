// OTF2 archives, read back by otf2-print and compared with the Chrome trace of the same run.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "running.hpp"
#include "skel/skel.hpp"
#include "support.hpp"
#include "transport/hub_transport.hpp"

using namespace skel::observe;

namespace {

// One span, with its times in nanoseconds.
struct region {
  std::string name;
  std::int64_t begin = 0, end = 0;
  friend bool operator==(region const&, region const&) = default;
};

struct archive {
  std::map<int, std::vector<region>> regions;  // by location, in the order of their begin
  std::map<std::pair<int, int>, std::vector<std::int64_t>> sent, received;  // bytes, by sender and receiver
  std::int64_t tasks = 0;
  std::string definitions;
};

std::string output_of(std::string const& command) { return test::run_command(command + " 2>&1").text; }

// `rank_of`: the ranks of the locations.
archive read(std::string const& path, std::map<int, int> const& rank_of) {
  archive a;
  a.definitions = output_of(std::string(OTF2_PRINT) + " -Werror -G " + path + " 2>&1");
  std::istringstream lines(output_of(std::string(OTF2_PRINT) + " -Werror " + path + " 2>&1"));
  std::map<int, std::vector<std::size_t>> inside;
  for (std::string line; std::getline(lines, line);) {
    char what[20] = "", name[20] = "";
    int location = 0, partner = 0;
    long long time = 0, bytes = 0;
    INFO(line);
    if (std::sscanf(line.c_str(), "ENTER %d %lld Region: \"%19[^\"]", &location, &time, name) == 3) {
      inside[location].push_back(a.regions[location].size());
      a.regions[location].push_back({name, time, 0});
    } else if (std::sscanf(line.c_str(), "LEAVE %d %lld Region: \"%19[^\"]", &location, &time, name) == 3) {
      auto& left = a.regions[location].at(inside[location].back());
      CHECK(left.name == name);
      left.end = time;
      inside[location].pop_back();
    } else if (std::sscanf(line.c_str(),
                           "MPI_%19s %d %lld %*[a-zA-Z]: %d (%*[^)]), %*[^,], Tag: 0, Length: %lld", what,
                           &location, &time, &partner, &bytes) == 5) {
      auto const& now = a.regions[location].at(inside[location].back());
      int const rank = rank_of.at(location);
      if (std::string(what) == "SEND") {
        CHECK(now.name == "send");
        a.sent[{rank, partner}].push_back(bytes);
      } else {
        CHECK(now.name == "receive");
        a.received[{partner, rank}].push_back(bytes);
      }
    } else if (auto const at = line.find("(\"tasks\" <1>; UINT64; "); at != std::string::npos) {
      a.tasks += std::stoll(line.substr(at + 22));
    }
  }
  for (auto const& [location, open] : inside) CHECK(open.empty());
  return a;
}

}  // namespace

TEST_CASE("an OTF2 archive has the events of the Chrome trace") {
  hub::job job(3, 1, std::size_t{1} << 30, {}, {}, [](int, skel::context_options& o) { o.trace.on = true; });
  std::atomic<int> computing = 0;  // ranks; the first task of each waits for all, so that none comes too late
  auto const task = [&](std::uint64_t i) {
    thread_local bool counted = false;
    if (!std::exchange(counted, true)) ++computing;
    while (computing < 3) std::this_thread::yield();
    return i;
  };
  auto const traces = job.on_root([&](skel::context& ctx) {
    for (int call = 0; call < 2; ++call)
      skel::farm(ctx, skel::indices(300), task, skel::schedule::first_come{},
                 [](skel::task_id, std::uint64_t) {});
    return ctx.traces();
  });
  test::temporary_directory const directory;
  write_trace(directory.file("t.json"), traces);
  write_trace(directory.file("t.otf2"), {});
  write_trace(directory.file("t.otf2"), traces);  // replaces the empty one
  auto const json = nlohmann::json::parse(test::read_file(directory.file("t.json")));

  std::map<std::pair<int, int>, int> location;  // by rank and lane, in their order
  for (auto const& e : json["traceEvents"])
    if (e["name"] == "thread_name") location[{e["pid"], e["tid"]}] = 0;
  std::map<int, int> rank_of;
  for (int next = 0; auto& [key, id] : location) rank_of[id = next++] = key.first;
  REQUIRE(location.size() >= 6);
  auto const written = read(directory.file("t.otf2"), rank_of);

  std::map<int, std::vector<region>> expected;
  std::map<std::tuple<std::string, int, int>, std::vector<std::int64_t>> sends, receives;
  std::int64_t tasks = 0;
  for (auto const& e : json["traceEvents"]) {
    if (e["ph"] != "X") continue;
    auto const nanoseconds = [](double microseconds) { return std::llround(microseconds * 1000); };
    auto const begin = nanoseconds(e["ts"]);
    int const rank = e["pid"];
    expected[location.at({rank, e["tid"]})].push_back({e["name"], begin, begin + nanoseconds(e["dur"])});
    auto const& more = e["args"];
    if (e["name"] == "send") sends[{e["cat"], rank, more["peer"]}].push_back(more["bytes"]);
    if (e["name"] == "receive") receives[{e["cat"], more["peer"], rank}].push_back(more["bytes"]);
    tasks += more.value("tasks", std::int64_t{0});
  }
  CHECK(written.tasks == tasks);
  CHECK(tasks == 2 * 2 * 300);  // computed, and in the sink
  for (auto& [id, regions] : expected) {
    std::stable_sort(regions.begin(), regions.end(), [](region const& a, region const& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    auto const& got = written.regions.at(id);
    REQUIRE(got.size() == regions.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].name == regions[i].name);
      CHECK(std::abs(got[i].begin - regions[i].begin) <= 1);
      CHECK(std::abs(got[i].end - regions[i].end) <= 2);
    }
  }
  // The message that carries a rank's trace has only one end in it.
  std::map<std::pair<int, int>, std::vector<std::int64_t>> messages;
  for (auto const& [key, sizes] : sends)
    for (std::size_t i = 0; i < std::min(sizes.size(), receives[key].size()); ++i)
      messages[{std::get<1>(key), std::get<2>(key)}].push_back(sizes[i]);
  CHECK(written.sent == messages);
  CHECK(written.received == messages);
  CHECK(messages.size() >= 4);
}

TEST_CASE("an OTF2 archive nests spans, and pairs no messages if some were dropped") {
  auto const span = [](double begin, double end, std::uint32_t lane, activity what) {
    trace_span s;
    s.begin = begin;
    s.end = end;
    s.first_task = 1;
    s.thread = lane;
    s.what = what;
    return s;
  };
  rank_trace one{0, "oak \"x\"", "farm 1", -3, 0, {}}, other{1, "elm", "farm 1", 0, 7, {}};
  one.spans = {span(4, 5, 0, activity::compute), span(1, 3, 0, activity::idle), span(2, 4, 0, activity::send),
               span(std::nan(""), 9, 0, activity::compute)};
  other.spans = {span(0, 0.5, 0, activity::receive)};
  other.spans[0].first_task = 0;
  test::temporary_directory const directory;
  auto const path = directory.file("t.otf2");
  write_trace(path, std::vector{one, other});
  auto const written = read(path, {{0, 0}, {1, 1}});
  auto const ns = [](double seconds) { return std::llround(seconds * 1e9); };
  // The first event, 2 s before the start of the context, is at 0.
  CHECK(written.regions.at(0) ==
        std::vector<region>{{"idle", 0, ns(2)}, {"send", ns(1), ns(2)}, {"compute", ns(3), ns(4)}});
  CHECK(written.regions.at(1) == std::vector<region>{{"receive", ns(2), ns(2.5)}});
  CHECK(written.sent.empty());
  CHECK(written.received.empty());
  CHECK(written.definitions.find("rank 1 on elm (7 older spans dropped)") != std::string::npos);
}

TEST_CASE("steals and losses are markers of an OTF2 archive") {
  rank_trace trace{0, "oak", "farm 1", 1, 0, {}};
  trace.spans = {{0.25, 0.25, 2, 40, 1, activity::steal}, {0.5, 0.5, 3, 0, 1, activity::loss}};
  test::temporary_directory const directory;
  auto const path = directory.file("t.otf2");
  write_trace(path, std::vector{trace});
  auto const markers = output_of(std::string(OTF2_MARKER) + " " + path + " 2>&1");
  auto const has = [&](char const* text) { return markers.find(text) != std::string::npos; };
  CHECK(has("Time: 1250000000, Duration 0, Scope: LOCATION:0, Text: \"from rank 2, 40 bytes\""));
  CHECK(has("Time: 1500000000, Duration 0, Scope: LOCATION:0, Text: \"rank 3 lost in farm 1\""));
  CHECK(read(path, {{0, 0}}).regions.empty());
}

TEST_CASE("an OTF2 archive replaces nothing but another one") {
  test::temporary_directory const directory;
  auto const path = directory.file("t.otf2"), beside = directory.file("t");
  std::filesystem::create_directory(beside);
  CHECK(test::error_text<skel::error>([&] { check_trace_file(path); }) ==
        beside + ": is in the way of the OTF2 archive " + path);
  CHECK(test::error_text<skel::error>([&] { write_trace(path, {}); }) ==
        beside + ": is in the way of the OTF2 archive " + path);
  std::filesystem::remove(beside);
  write_trace(path, {});
  auto const capitals = directory.file("U.OTF2");
  write_trace(capitals, {});
  CHECK(std::filesystem::exists(capitals));
  CHECK(std::filesystem::exists(directory.file("U.def")));
  std::filesystem::create_directory(beside + "/mine");
  CHECK(test::error_text<skel::error>([&] { write_trace(path, {}); }).find(beside + ": ") == 0);
  CHECK(std::filesystem::exists(beside + "/mine"));
  CHECK(test::error_text<skel::error>([] { write_trace("/nonexistent/t.otf2", {}); }) ==
        "/nonexistent/t.otf2: No such file or directory");
}
