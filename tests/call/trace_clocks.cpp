// Traces of several ranks, also of ranks whose clocks differ.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "observe/clock_offsets.hpp"
#include "skel/skel.hpp"
#include "transport/hub_transport.hpp"
#include "tree.hpp"

using skel::observe::activity;
using skel::observe::rank_trace;

namespace {

void traced(int /*rank*/, skel::context_options& o) { o.trace.on = true; }

// 1000 s apart, and 50 ms of drift per second.
double apart(int rank, double t) { return 1000 * rank + t * (1 + 0.05 * rank); }

// Returns the number of messages that were received earlier than `tolerance` before they were sent, by the
// trace, and of all. The messages of a pair of ranks arrive in their order; the last one of a call, which
// carries the trace, is not in it.
std::pair<int, int> wrong_and_all_messages(std::vector<rank_trace> const& traces, double tolerance) {
  std::map<std::tuple<std::string, int, int>, std::vector<double>> sent, received;
  for (auto const& t : traces)
    for (auto const& s : t.spans) {
      auto const peer = static_cast<int>(s.first_task);
      if (s.what == activity::send) sent[{t.label, t.rank, peer}].push_back(t.offset_seconds + s.begin);
      if (s.what == activity::receive) received[{t.label, peer, t.rank}].push_back(t.offset_seconds + s.end);
    }
  int wrong = 0, all = 0;
  for (auto const& [key, times] : received)
    for (std::size_t i = 0; i < std::min(times.size(), sent[key].size()); ++i, ++all)
      if (times[i] + tolerance < sent[key][i]) ++wrong;
  return {wrong, all};
}

auto sleep_for(std::chrono::milliseconds time) {
  return [time](std::uint64_t i) {
    std::this_thread::sleep_for(time);
    return i;
  };
}

struct slow_tree : call_test::tree {
  void run(int depth, skel::spawner<int>& more, std::uint64_t& nodes) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    tree::run(depth, more, nodes);
  }
};

}  // namespace

TEST_CASE("the offset of a clock is interpolated between samples") {
  skel::observe::clock_offsets offsets;
  CHECK(offsets.to_root(7) == 7);
  offsets.add({10, 100, 0.1});
  CHECK(offsets.to_root(7) == 107);
  CHECK(offsets.to_root(70) == 170);  // the end was not measured
  offsets.add({10.5, 90, 0.2});       // less exact, and too close for a drift
  CHECK(offsets.to_root(70) == 170);
  offsets.add({10.5, 99, 0.05});
  CHECK(offsets.to_root(70) == 169);
  offsets.add({20.5, 89, 1});
  CHECK(offsets.to_root(10) == 109);
  CHECK(offsets.to_root(15.5) == 109.5);
  CHECK(offsets.to_root(30) == 119);
}

TEST_CASE("traces of ranks with different clocks have messages sent before they are received") {
  // The error of a measurement is half of a round trip, and the end of a call may not be measured on a
  // machine that is busy with something else: then once more.
  bool sent_first = false, same_ends = false;
  for (int attempt = 0; attempt < 10 && !(sent_first && same_ends); ++attempt) {
    hub::job job(3, 1, std::size_t{1} << 30, {}, {}, traced, apart);
    auto const traces = job.on_root([&](skel::context& ctx) {
      // 1.2 s, in which the clocks go 60 ms and 120 ms apart.
      skel::farm(ctx, skel::indices(90), sleep_for(std::chrono::milliseconds(40)),
                 skel::schedule::first_come{}, [](skel::task_id, std::uint64_t) {});
      skel::farm(ctx, skel::indices(30), sleep_for(std::chrono::milliseconds(1)),
                 [](skel::task_id, std::uint64_t) {});
      return ctx.traces();
    });
    REQUIRE(traces.size() == 6);
    auto const [wrong, all] = wrong_and_all_messages(traces, 0.01);
    CHECK(all > 20);
    sent_first = wrong == 0;
    // Both ends of a farm are at the same time on all ranks.
    auto const ends = [&](std::size_t call, int rank) {
      auto const at = std::find_if(traces.begin() + static_cast<std::ptrdiff_t>(3 * call), traces.end(),
                                   [&](auto const& t) { return t.rank == rank; });
      REQUIRE(at != traces.end());
      auto const [first, last] = std::minmax_element(
          at->spans.begin(), at->spans.end(), [](auto const& a, auto const& b) { return a.end < b.end; });
      return std::pair(at->offset_seconds + first->begin, at->offset_seconds + last->end);
    };
    same_ends = true;
    for (std::size_t const call : {0U, 1U})
      for (int const rank : {1, 2})
        same_ends = same_ends && std::abs(ends(call, rank).first - ends(call, 0).first) < 0.04 &&
                    std::abs(ends(call, rank).second - ends(call, 0).second) < 0.04;
  }
  CHECK(sent_first);
  CHECK(same_ends);
}

TEST_CASE("a lost rank does not keep the others from measuring their clocks") {
  hub::job job(3, 1, std::size_t{1} << 30, {}, {}, traced, apart);
  std::atomic<int> begun = 0;
  auto const traces = job.on_root([&](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(60),
        [&](std::uint64_t i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          if (ctx.rank() == 2 && ++begun == 5) job.kill(2);
          return i;
        },
        skel::schedule::first_come{}, [](skel::task_id, std::uint64_t) {});
    return ctx.traces();
  });
  REQUIRE(traces.size() == 2);
  CHECK(wrong_and_all_messages(traces, 0.5).first == 0);  // the clocks are 1000 s apart
  auto const& spans = traces[0].spans;                    // the root's
  auto const lost = [](auto const& s) { return s.what == activity::loss; };
  CHECK(std::count_if(spans.begin(), spans.end(), lost) == 1);
  CHECK(std::find_if(spans.begin(), spans.end(), lost)->first_task == 2);
}

TEST_CASE("a trace has every steal") {
  hub::job job(3, 1, std::size_t{1} << 30, {}, {}, traced);
  std::vector<rank_trace> traces;
  std::uint64_t steals = 0;
  job.run([&](skel::context& ctx) {
    auto const found = skel::ring_steal(ctx, skel::on_root([] { return std::vector{7}; }), slow_tree{});
    if (!ctx.is_root()) return;
    traces = ctx.traces();
    steals = found.report.steals.value_or(0);
  });
  std::uint64_t traced_steals = 0;
  for (auto const& t : traces)
    for (auto const& s : t.spans) {
      if (s.what != activity::steal) continue;
      ++traced_steals;
      CHECK(s.first_task < 3);
      CHECK(s.first_task != static_cast<std::uint64_t>(t.rank));
    }
  CHECK(traced_steals == steals);
  CHECK(steals > 0);
}

TEST_CASE("clocks are measured only for traces") {
  for (bool const trace : {false, true}) {
    hub::job job(3, 1, std::size_t{1} << 30, {}, {},
                 [&](int, skel::context_options& o) { o.trace.on = trace; });
    job.run([](skel::context& ctx) {
      skel::farm(
          ctx, skel::indices(10), [](std::uint64_t i) { return i; }, [](skel::task_id, std::uint64_t) {});
    });
    CHECK((job.control_messages() > 0) == trace);
    CHECK(job.control_messages() <= 2 * 2 * (2 * 8 + 1));  // bounded: 8 rounds at the start and at the end
  }
}
