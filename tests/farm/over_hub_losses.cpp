// Farms over several ranks in one process that lose or suspect ranks, or wait for slow ones.
#include <atomic>

#include "engine/context_access.hpp"
#include "over_hub.hpp"

using namespace farm_test;

TEST_CASE("with copies the root does not wait for a slow rank whose task another rank finished") {
  hub::job job(2);
  std::atomic<bool> root_is_done{false}, root_waited{false};
  std::vector<std::uint64_t> got;
  job.run_well([&](skel::context& ctx) {
    auto const f = [&](std::uint64_t i) {
      if (ctx.rank() == 1) {  // its task ends after the root's call, or after a minute if the root waits
        for (int ms = 0; ms < 60'000 && !root_is_done; ++ms)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!root_is_done) root_waited = true;
      }
      return work(i);
    };
    skel::farm(ctx, skel::indices(4), f, skel::any_schedule("ring:copies=yes"), skel::into(got));
    if (ctx.is_root()) root_is_done = true;
  });
  CHECK(got == expected(4));
  CHECK_FALSE(root_waited);
}

TEST_CASE("adaptive copies the task of a rank that becomes slow, unless it may run only once") {
  for (bool const once : {false, true}) {
    hub::job job(2);
    std::vector<std::atomic<int>> runs(200);
    std::vector<std::uint64_t> got;
    job.run_well([&](skel::context& ctx) {
      int mine = 0;
      auto const f = [&](std::uint64_t i) {
        ++runs[i];
        // Rank 1 is slow from the start, and its third task takes a second.
        if (ctx.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(++mine == 3 ? 1000 : 20));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return work(i);
      };
      skel::farm(ctx, skel::indices(runs.size()), f, skel::into(got), {.task = {.run_once = once}});
    });
    CHECK(got == expected(runs.size()));
    int twice = 0;
    for (auto const& n : runs) {
      CHECK(n >= 1);
      twice += n > 1 ? 1 : 0;
    }
    if (once)
      CHECK(twice == 0);
    else
      CHECK(twice > 0);
  }
}

TEST_CASE("a sink of outcomes hears of each task once after losses") {
  constexpr std::uint64_t tasks = 120;
  auto const fails = [](std::uint64_t i) { return i % 9 == 4; };
  for (auto const* how : {"auto", "guided", "ring", "interleaved"}) {
    INFO(how);
    hub::job job(4);
    std::vector<int> heard(tasks);
    std::atomic<int> done_by_2{0};
    std::uint64_t wrong = 0;
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        if (ctx.rank() == 2 && ++done_by_2 == 2) job.kill(2);  // the others may steal its later ones
        auto const result = slow_work(i);
        if (fails(i)) throw std::runtime_error("no luck with " + std::to_string(i));
        return result;
      };
      auto const take = [&](skel::task_id i, skel::outcome<std::uint64_t> const& o) {
        ++heard.at(i);
        bool const right = o ? !fails(i) && *o == work(i)
                             : fails(i) && o.error().text == "no luck with " + std::to_string(i);
        wrong += right ? 0 : 1;
      };
      auto const r = skel::farm(ctx, skel::indices(tasks), f, skel::any_schedule(how), take,
                                {.on_error = skel::on_error::collect{}})
                         .report;
      if (ctx.is_root()) report = r;
    });
    for (int const r : {0, 1, 3}) CHECK(job.error(r).empty());
    CHECK(report.lost_ranks == std::vector<int>{2});
    CHECK(wrong == 0);
    CHECK(heard == std::vector<int>(tasks, 1));
    CHECK(report.failed_tasks.size() == 13);
  }
}

TEST_CASE("the loss of any ranks but the root does not change the results") {
  for (auto const& how : schedules())
    for (bool concentrated : {false, true})
      for (bool serves : {false, true}) {
        hub::job job(4, 2);
        std::vector<std::uint64_t> got;
        skel::farm_options options;
        options.max_losses_per_task = 0;  // one task may run on several ranks that are killed
        if (concentrated) options.results = skel::results::concentrated();
        if (serves) options.root_works = false;
        std::atomic<int> started{0};
        std::atomic<bool> somebody_dead{false};
        std::thread killer([&] {
          while (started < 20) std::this_thread::yield();
          for (int r : {2, 3, 1}) {
            job.kill(r);
            somebody_dead = true;
            if (!serves && r == 3) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        });
        job.run([&](skel::context& ctx) {
          auto const f = [&](std::uint64_t i) {
            // The loss happens while most tasks are unfinished, even if the killer is slow.
            if (++started > 20)
              while (!somebody_dead) std::this_thread::yield();
            return slow_work(i);
          };
          skel::farm(ctx, skel::indices(120), f, how, skel::into(got), options);
        });
        killer.join();
        INFO(how.to_string() << (concentrated ? " concentrated" : "") << (serves ? " serves" : ""));
        CHECK(job.error(0).empty());
        CHECK(job.error(2).find("lost the root") != std::string::npos);
        CHECK(got == expected(120));
      }
}

TEST_CASE("a stream survives losses and false suspicions") {
  for (int turn = 0; turn < 10; ++turn) {
    hub::job job(3, 2);
    std::vector<std::uint64_t> got;
    std::atomic<bool> over{false}, quiet{false};
    std::thread trouble([&] {
      for (int i = 0; i < 20 && !over; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        job.suspect(1 + i % 2);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        job.heartbeat(1 + i % 2);
      }
      job.kill(2);
      quiet = true;
    });
    job.run([&](skel::context& ctx) {
      auto const f = [](std::uint64_t i) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        return work(i);
      };
      skel::farm(ctx, counting(1000), f, skel::schedule::first_come{.chunk = 5}, skel::into(got));
      if (!ctx.is_root()) return;
      over = true;
      // Like the farewell of run_main: a suspect that shows up late hears of the end.
      for (int i = 0; i < 20 || !quiet; ++i) {
        static_cast<void>(skel::detail::context_access::engine_of(ctx).driver().try_progress(0));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    trouble.join();
    CHECK(job.error(0).empty());
    CHECK(got == expected(1000));
  }
}
