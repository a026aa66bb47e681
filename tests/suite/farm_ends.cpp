// Runs that end before their last task: by the sink, by a request, or by the time limit.
#include <ranges>
#include <stop_token>
#include <thread>

#include "suite.hpp"

namespace suite::ends {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t many = 1'000'000;  // too many to finish within a test
auto const same = [](std::uint64_t i) { return i; };
auto const slow = [](std::uint64_t i) {
  spend(1ms);
  return i;
};
auto const ignore = [](skel::task_id, std::uint64_t) {};

}  // namespace

TEST_CASE("the sink ends the run, and receives nothing after that", "[farm][ends]") {
  for (auto const* name : {"blocks", "interleaved", "first-come", "guided", "hybrid"}) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      int after = 0, sunk = 0;
      auto const r =
          skel::farm(ctx, skel::indices(many), same, skel::any_schedule(name),
                     [&](skel::task_id, std::uint64_t) {
                       if (sunk == 1000) ++after;
                       return ++sunk >= 1000 ? skel::results::flow::stop : skel::results::flow::go_on;
                     })
              .report;
      CHECK(r.stopped_early);
      CHECK(after == 0);
      if (!ctx.is_root()) return;
      CHECK(sunk == 1000);
      CHECK(r.tasks == 1000);
    });
  }
}

TEST_CASE("an ordered sink ends the run", "[farm][ends]") {
  on_ranks([](skel::context& ctx) {
    std::uint64_t last = 0;
    auto const until_500 = [&](skel::task_id id, std::uint64_t) {
      last = id;
      return id == 500 ? skel::results::flow::stop : skel::results::flow::go_on;
    };
    auto const r =
        skel::farm(ctx, skel::indices(many), same, skel::schedule::guided{}, skel::ordered(until_500, 1000))
            .report;
    CHECK(r.stopped_early);
    if (ctx.is_root()) CHECK(last == 500);
  });
}

TEST_CASE("an endless stream ends with its sink, and the next call works", "[farm][ends]") {
  on_ranks([](skel::context& ctx) {
    int sunk = 0;
    auto const r = skel::farm(ctx, skel::on_root([] { return std::views::iota(std::uint64_t{0}); }), same,
                              skel::schedule::guided{},
                              [&](skel::task_id, std::uint64_t) {
                                return ++sunk < 5000 ? skel::results::flow::go_on : skel::results::flow::stop;
                              })
                       .report;
    CHECK(r.stopped_early);
    std::uint64_t total = 0;
    auto const next =
        skel::farm(ctx, skel::indices(1000), same, skel::schedule::guided{}, skel::reduced(total, add))
            .report;
    CHECK(!next.stopped_early);
    if (ctx.is_root()) CHECK(total == 499500);
  });
}

TEST_CASE("each rank may end the run, through a token of its own", "[farm][ends][clock]") {
  on_ranks([](skel::context& ctx) {
    for (int who = 0; who < ctx.size(); ++who) {
      std::stop_source asking;
      std::jthread const later([&, here = ctx.rank() == who] {
        if (!here) return;
        std::this_thread::sleep_for(100ms);
        asking.request_stop();
      });
      CHECK(skel::farm(ctx, skel::indices(many), slow, skel::schedule::guided{}, ignore,
                       {.stop = asking.get_token()})
                .report.stopped_early);
    }
  });
}

TEST_CASE("a run may be ended before its start", "[farm][ends]") {
  on_ranks([](skel::context& ctx) {
    std::stop_source asking;
    asking.request_stop();
    CHECK(skel::farm(ctx, skel::indices(many), same, skel::schedule::blocks{}, ignore,
                     {.stop = asking.get_token()})
              .report.stopped_early);
  });
}

TEST_CASE("the time limit ends the run", "[farm][ends]") {
  for (auto const* name : {"interleaved", "guided"}) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      auto const r = skel::farm(ctx, skel::indices(many), slow, skel::any_schedule(name), ignore,
                                {.time_limit_seconds = 0.3})
                         .report;
      CHECK(r.stopped_early);
      if (ctx.rank() == 0) CHECK(r.seconds >= 0.2);  // others may enter the call later
    });
  }
}

TEST_CASE("a stopped context ends every run", "[farm][ends]") {
  on_ranks([](skel::context& ctx) {
    if (ctx.rank() == ctx.size() - 1) ctx.request_stop();
    for (int i = 0; i < 2; ++i)
      CHECK(
          skel::farm(ctx, skel::indices(many), slow, skel::schedule::guided{}, ignore).report.stopped_early);
  });
}

}  // namespace suite::ends
