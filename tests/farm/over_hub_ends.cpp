// Farms over several ranks in one process that fail, end early, or are refused.
#include <functional>

#include "over_hub.hpp"

using namespace farm_test;

TEST_CASE("the results of tasks that run when a stop comes reach the sink, and no others begin") {
  std::vector<skel::farm_policy> const schedules{
      skel::schedule::adaptive{}.policy(), skel::schedule::guided{}.policy(),
      skel::schedule::blocks{}.policy(), skel::schedule::ring{}.policy(),
      skel::schedule::first_come{3}.policy()};
  for (auto const& how : schedules)
    for (int const ranks : {1, 2, 5}) {
      CAPTURE(to_string(how), ranks);
      hub::job job(ranks);
      std::atomic<std::uint64_t> begun{0}, after{0};
      std::uint64_t seen = 0;
      auto const report = job.run_well([&](skel::context& ctx) {
        auto const f = [&](std::uint64_t i) {
          if (++begun == 20) ctx.request_stop();
          if (begun > 20) ++after;
          std::this_thread::sleep_for(std::chrono::milliseconds(i % 7 == 0 ? 40 : 2));
          return i;
        };
        skel::farm_options options;
        options.task.run_once = true;
        auto const sink = [&](skel::task_id, std::uint64_t) { ++seen; };
        return skel::farm(ctx, skel::indices(1000), f, how, sink, options).report;
      });
      CHECK(report.stopped_early);
      CHECK(seen == begun);
      CHECK(report.tasks == seen);
      CHECK(after < 500);
    }
}

TEST_CASE("all tasks throw on all threads of all ranks") {
  hub::job job(3, 2);
  // The run must not wait for a repeated stop, which follows after 2 s. A busy machine may need several
  // attempts.
  bool quick = false;
  for (int attempt = 0; attempt < 10 && !quick; ++attempt) {
    auto const begin = std::chrono::steady_clock::now();
    job.run([&](skel::context& ctx) {
      auto const f = [](std::uint64_t) -> int { throw std::runtime_error("never"); };
      skel::farm(ctx, skel::indices(100), f, skel::schedule::first_come{}, [](skel::task_id, int) {});
    });
    quick = std::chrono::steady_clock::now() - begin < std::chrono::seconds(1);
    for (int r = 0; r < 3; ++r) CHECK_FALSE(job.error(r).empty());
  }
  CHECK(quick);
}

TEST_CASE("a window excludes tasks dealt beforehand") {
  hub::job job(2);
  for (char const* name : {"blocks", "interleaved", "hybrid"}) {
    job.run([&](skel::context& ctx) {
      skel::farm_options options;
      options.results.window = 4;
      skel::farm(
          ctx, skel::indices(10), work, skel::any_schedule(name), [](skel::task_id, std::uint64_t) {},
          options);
    });
    INFO(name);
    for (int r = 0; r < 2; ++r) hub::check_thrown<skel::usage_error>(job, r);
  }
}

TEST_CASE("copies exclude merged results and streamed tasks") {
  hub::job job(2);
  skel::any_schedule const copies("ring:copies=yes");
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    std::uint64_t sum = 0;
    skel::farm(ctx, skel::indices(10), work, copies, skel::reduced(sum, std::plus<>()));
  });
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm(ctx, counting(10), work, copies, [](skel::task_id, std::uint64_t) {});
  });
}

TEST_CASE("run_once refuses a schedule that asks for copies") {
  hub::job job(2);
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(10), work, skel::any_schedule("ring:copies=yes"),
               [](skel::task_id, std::uint64_t) {}, {.task = {.run_once = true}});
  });
}

TEST_CASE("negative counts and times are refused by name") {
  hub::job job(2);
  constexpr auto minus_two = static_cast<std::uint64_t>(-2);
  auto const refused = [&](auto const& how, skel::farm_options const& options = {},
                           std::uint64_t window = 0) {
    job.all_throw<skel::usage_error>([&](skel::context& ctx) {
      skel::farm(ctx, skel::indices(10), work, how,
                 skel::ordered([](skel::task_id, std::uint64_t) {}, window), options);
    });
    return job.error(1);
  };
  skel::schedule::guided const guided;
  CHECK(refused(guided, {.results = {.window = minus_two}}) == "farm: window must be at least 0, found -2");
  CHECK(refused(guided, {.results = skel::results::streamed(minus_two)}) ==
        "farm: the batch of streamed results must be at least 0, found -2");
  CHECK(refused(guided, {.time_limit_seconds = -1}) ==
        "farm: time_limit_seconds must be a number of seconds from 0 on, found -1");
  CHECK(refused(guided, {}, minus_two) == "farm: the window of an ordered sink must be at least 0, found -2");
  CHECK(refused(skel::schedule::guided{minus_two}) ==
        "schedule guided: the number of tasks of a grant must be at least 1, found -2");
  CHECK(refused(skel::schedule::first_come{.chunk = 0}) ==
        "schedule first-come: the number of tasks of a grant must be at least 1, found 0");
  CHECK(refused(skel::schedule::first_come{.threshold = minus_two}) ==
        "schedule first-come: threshold must be at least 0, found -2");
  CHECK(refused(skel::schedule::hybrid{.cut = -2}) == "schedule hybrid: cut must be at least 0, found -2");
  CHECK_THROWS_WITH(skel::indices(static_cast<std::uint64_t>(-3)),
                    "indices: the number of tasks must be at least 0, found -3");
}

TEST_CASE("invalid options of a context are refused by name") {
  auto const with = [](auto change) {
    skel::context_options o;
    o.threads = 1;
    change(o);
    return o;
  };
  CHECK_THROWS_WITH(skel::context(with([](auto& o) { o.threads = -2; })),
                    "context_options: threads must be 0 to 4096, found -2");
  CHECK_THROWS_WITH(skel::context(with([](auto& o) { o.watchdog_seconds = -1; })),
                    "context_options: watchdog_seconds must be a number of seconds from 0 on, found -1");
  CHECK_THROWS_WITH(skel::context(with([](auto& o) { o.suspect_after_seconds = -1; })),
                    "context_options: suspect_after_seconds must be a number of seconds from 0 on, found -1");
  CHECK_THROWS_WITH(skel::context(with([](auto& o) { o.largest_message = 0; })),
                    "context_options: largest_message must be at least 1, found 0");
}
