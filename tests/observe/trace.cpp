#include "skel/observe/trace.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "observe/trace_buffer.hpp"
#include "skel/error.hpp"
#include "support.hpp"

using namespace skel::observe;

namespace {

trace_span span_at(double begin, activity what = activity::compute) {
  trace_span span;
  span.begin = begin;
  span.end = begin + 0.5;
  span.first_task = 7;
  span.count = 3;
  span.what = what;
  return span;
}

nlohmann::json written(std::vector<rank_trace> const& traces) {
  test::temporary_directory const directory;
  write_chrome_trace(directory.file("t.json"), traces);
  return nlohmann::json::parse(test::read_file(directory.file("t.json")));
}

std::vector<nlohmann::json> events(nlohmann::json const& trace, std::string const& phase) {
  std::vector<nlohmann::json> found;
  for (auto const& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

}  // namespace

TEST_CASE("a trace buffer keeps the newest spans and counts the rest") {
  trace_buffer buffer(4);
  for (int i = 0; i < 10; ++i) buffer.add(span_at(i));
  std::uint64_t dropped = 0;
  auto const spans = buffer.take(dropped);
  CHECK(dropped == 6);
  REQUIRE(spans.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(spans[i].begin == 6.0 + static_cast<double>(i));

  CHECK(buffer.take(dropped).empty());  // emptied, and starts again in order
  CHECK(dropped == 0);
  buffer.add(span_at(1));
  buffer.add(span_at(2));
  auto const again = buffer.take(dropped);
  REQUIRE(again.size() == 2);
  CHECK(again[0].begin == 1);
}

TEST_CASE("a trace buffer without room only counts") {
  trace_buffer buffer(0);
  buffer.add(span_at(0));
  std::uint64_t dropped = 0;
  CHECK(buffer.take(dropped).empty());
  CHECK(dropped == 1);
}

TEST_CASE("a Chrome trace has processes, threads and spans in microseconds") {
  auto receive = span_at(2, activity::receive);
  receive.thread = 1;  // a rank with one compute thread: then come the lanes of messages and of the sink
  auto sink = span_at(3, activity::sink);
  sink.thread = 2;
  auto const trace = written(
      {{0, "oak", "farm 1: \"rows\"", 10, 0, {span_at(1), receive, sink}}, {3, "elm", "farm 1", 0, 99, {}}});

  auto const metadata = events(trace, "M");
  auto const named = [&](std::string const& name) {
    return std::ranges::any_of(metadata, [&](auto const& e) { return e["args"].value("name", "") == name; });
  };
  CHECK(named("rank 0 on oak"));
  CHECK(named("rank 3 on elm (99 older spans dropped)"));
  CHECK(named("thread 0"));
  CHECK(named("messages"));
  CHECK(named("sink"));

  auto const spans = events(trace, "X");
  REQUIRE(spans.size() == 3);
  CHECK(spans[0]["name"] == "compute");
  CHECK(spans[0]["cat"] == "farm 1: \"rows\"");
  CHECK(spans[0]["pid"] == 0);
  CHECK(spans[0]["ts"] == 11e6);
  CHECK(spans[0]["dur"] == 0.5e6);
  CHECK(spans[0]["args"] == nlohmann::json{{"first_task", 7}, {"tasks", 3}});
  CHECK(spans[1]["name"] == "receive");
  CHECK(spans[1]["tid"] == 1);
  CHECK(spans[1]["args"] == nlohmann::json{{"peer", 7}, {"bytes", 3}});
}

TEST_CASE("steals and losses are moments of a Chrome trace") {
  auto const trace =
      written({{0, "oak", "farm 1", 10, 0, {span_at(1, activity::steal), span_at(2, activity::loss)}}});
  auto const moments = events(trace, "i");
  REQUIRE(moments.size() == 2);
  CHECK(moments[0]["name"] == "steal");
  CHECK(moments[0]["ts"] == 11e6);
  CHECK(moments[0]["args"] == nlohmann::json{{"peer", 7}, {"bytes", 3}});
  CHECK(moments[1]["name"] == "loss");
  CHECK(moments[1]["args"] == nlohmann::json{{"rank", 7}});
  CHECK(events(trace, "X").empty());
}

TEST_CASE("a trace parses whatever is in it") {
  auto endless = span_at(0);
  endless.end = std::numeric_limits<double>::infinity();
  auto backwards = span_at(5);
  backwards.end = 4;
  auto const trace = written({{0, "\xff\xfe host\n", "", 0, 0, {span_at(std::nan("")), endless, backwards}}});
  auto const spans = events(trace, "X");
  REQUIRE(spans.size() == 1);
  CHECK(spans[0]["dur"] == 0);
  CHECK(written({})["traceEvents"].empty());
}

TEST_CASE("two runs of one rank are one process") {
  auto const trace =
      written({{0, "oak", "farm 1", 0, 1, {span_at(0)}}, {0, "oak", "farm 2", 9, 2, {span_at(0)}}});
  CHECK(trace["traceEvents"][0]["args"]["name"] == "rank 0 on oak (3 older spans dropped)");
  CHECK(events(trace, "M").size() == 3);
  CHECK(events(trace, "X")[1]["ts"] == 9e6);
}

TEST_CASE("a trace that cannot be written names the path") {
  CHECK(test::error_text<skel::error>([] { write_chrome_trace("/nonexistent/t.json", {}); }) ==
        "/nonexistent/t.json: No such file or directory");
}

#if !SKEL_WITH_OTF2

TEST_CASE("a build without OTF2 refuses such a trace") {
  test::temporary_directory const directory;
  auto const path = directory.file("t.otf2");
  auto const text = path + ": this build of skel has no OTF2 (SKEL_OTF2)";
  CHECK(test::error_text<skel::usage_error>([&] { check_trace_file(path); }) == text);
  CHECK(test::error_text<skel::usage_error>([&] { write_trace(path, {}); }) == text);
}

#endif
