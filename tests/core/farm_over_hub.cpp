// Whole farms over several ranks in one process: every schedule, every kind of end, results compared by
// bytes.
#include <sys/resource.h>

#include <atomic>
#include <numeric>

#include "catch.hpp"
#include "hub_transport.hpp"
#include "skel/farm.hpp"

namespace {

std::vector<skel::any_schedule> schedules() {
  std::vector<skel::any_schedule> all;
  for (char const* name : {"blocks", "interleaved", "first-come", "first-come:chunk=3,threshold=2", "guided",
                           "guided:min=2", "hybrid", "hybrid:cut=10,threshold=0", "ring",
                           "ring:take=one,order=predecessors", "ring:order=doubling", "ring:copies=yes"})
    all.emplace_back(name);
  return all;
}

std::uint64_t work(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15U; }

std::vector<std::uint64_t> expected(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  for (std::uint64_t i = 0; i < n; ++i) all[i] = work(i);
  return all;
}

// Takes a little while, so that every rank gets some.
std::uint64_t slow_work(std::uint64_t i) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  return work(i);
}

template <class Error>
void check_thrown(hub::job const& job, int rank) {
  REQUIRE(job.exception(rank) != nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(job.exception(rank)), Error);
}

auto counting(std::uint64_t n) {
  return skel::on_root([n] { return std::views::iota(std::uint64_t{0}, n); });
}

}  // namespace

TEST_CASE("every schedule gives every result once, on any number of ranks and threads") {
  for (int ranks : {1, 2, 3, 5, 8})
    for (int threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (auto const& how : schedules())
        for (std::uint64_t n : {0U, 1U, 3U, 150U})
          for (bool concentrated : {false, true}) {
            std::vector<std::uint64_t> got;
            skel::farm_options options;
            if (concentrated) options.results = skel::concentrated();
            if (n == 3) options.root = skel::root_role::serves;
            INFO(how.to_string() << ", " << ranks << " ranks, " << threads << " threads, " << n << " tasks");
            std::atomic<std::uint64_t> sum{0};
            job.run([&](skel::context& ctx) {
              auto const r = skel::farm(ctx, skel::indices(n), work, how, skel::into(got), options);
              if (ctx.is_root()) sum = r.tasks;
            });
            for (int r = 0; r < ranks; ++r) CHECK(job.error(r).empty());
            CHECK(got == expected(n));
            CHECK(sum == n);
          }
    }
}

TEST_CASE("farms follow each other, with ranks that come late") {
  hub::job job(3, 2);
  std::vector<std::uint64_t> first, second;
  job.run([&](skel::context& ctx) {
    if (ctx.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    skel::farm(ctx, skel::indices(100), work, skel::guided{}, skel::into(first));
    if (ctx.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    skel::farm(ctx, skel::indices(50), work, skel::blocks{}, skel::into(second));
  });
  for (int r = 0; r < 3; ++r) CHECK(job.error(r).empty());
  CHECK(first == expected(100));
  CHECK(second == expected(50));
}

TEST_CASE("a task that throws fails the run on every rank, and the next run works") {
  for (std::uint64_t bad : {0U, 50U, 99U})
    for (int threads : {1, 2}) {
      hub::job job(3, threads);
      for (auto const& how : schedules()) {
        INFO(how.to_string() << ", task " << bad);
        std::vector<std::uint64_t> got;
        job.run([&](skel::context& ctx) {
          auto const f = [&](std::uint64_t i) {
            if (i == bad) throw std::runtime_error("no luck");
            return work(i);
          };
          skel::farm(ctx, skel::indices(100), f, how, skel::into(got));
        });
        for (int r = 0; r < 3; ++r) {
          CHECK(job.error(r) == job.error(0));
          check_thrown<skel::task_error>(job, r);
        }
        CHECK(job.error(0).starts_with("task " + std::to_string(bad) + " failed on rank "));
        got.clear();
        job.run([&](skel::context& ctx) { skel::farm(ctx, skel::indices(9), work, how, skel::into(got)); });
        CHECK(got == expected(9));
      }
    }
}

TEST_CASE("all tasks throw on all threads of all ranks") {
  hub::job job(3, 2);
  auto const begin = std::chrono::steady_clock::now();
  job.run([&](skel::context& ctx) {
    auto const f = [](std::uint64_t) -> int { throw std::runtime_error("never"); };
    skel::farm(ctx, skel::indices(100), f, skel::first_come{}, [](skel::task_id, int) {});
  });
  for (int r = 0; r < 3; ++r) CHECK_FALSE(job.error(r).empty());
  CHECK(std::chrono::steady_clock::now() - begin <
        std::chrono::seconds(1));  // no waiting for a repeated stop
}

TEST_CASE("a sink or a source that throws fails the run on every rank") {
  hub::job job(3, 2);
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(100), work, skel::guided{}, [](skel::task_id id, std::uint64_t) {
      if (id == 40) throw std::runtime_error("disk full");
    });
  });
  for (int r = 0; r < 3; ++r) CHECK(job.error(r) == "the sink failed on the result of task 40: disk full");
  job.run([&](skel::context& ctx) {
    auto const open = [] {
      return std::views::iota(0, 100) | std::views::transform([](int i) {
               if (i == 30) throw std::runtime_error("no more");
               return i;
             });
    };
    skel::farm(
        ctx, skel::on_root(open), [](int i) { return i; }, skel::guided{}, [](skel::task_id, int) {});
  });
  for (int r = 0; r < 3; ++r) {
    CHECK(job.error(r).find("no more") != std::string::npos);
    check_thrown<skel::source_error>(job, r);
  }
}

TEST_CASE("a stream on the root travels and does not gather in memory") {
  std::uint64_t const n = 300000;
  hub::job job(3, 1);
  std::uint64_t sum = 0, count = 0;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, counting(n), work, skel::guided{},
               [&](skel::task_id, std::uint64_t r) { sum += r, ++count; });
  });
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  auto const all = expected(n);
  CHECK(count == n);
  CHECK(sum == std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KiB
#endif
}

TEST_CASE("an ordered sink has the results in task order, within its window") {
  hub::job job(3, 2, std::size_t{1} << 30, std::chrono::microseconds(300));
  for (auto const& how : schedules()) {
    std::vector<std::uint64_t> got;
    job.run([&](skel::context& ctx) {
      skel::farm(ctx, skel::indices(300), work, how, skel::ordered([&](skel::task_id id, std::uint64_t r) {
                   CHECK(id == got.size());
                   got.push_back(r);
                 }));
    });
    INFO(how.to_string());
    CHECK(got == expected(300));
  }
  std::vector<std::uint64_t> got;
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, counting(500), work, skel::first_come{.chunk = 2},
               skel::ordered([&](skel::task_id, std::uint64_t r) { got.push_back(r); }, 8));
  });
  CHECK(got == expected(500));
}

TEST_CASE("a reduced sink merges every result once") {
  for (int threads : {1, 2}) {
    hub::job job(4, threads);
    for (auto const& how : schedules())
      for (bool concentrated : {false, true}) {
        if (how.policy().copies) continue;  // refused
        std::uint64_t total = 5;
        skel::farm_options options;
        if (concentrated) options.results = skel::concentrated();
        job.run([&](skel::context& ctx) {
          skel::farm(ctx, skel::indices(1000), work, how, skel::reduced(total, std::plus<>{}), options);
        });
        auto const all = expected(1000);
        CHECK(total == std::accumulate(all.begin(), all.end(), std::uint64_t{5}));
      }
  }
}

TEST_CASE("a run ends early when the sink, a stop token or the time says so") {
  hub::job job(3, 2);
  std::atomic<int> stopped{0};
  std::atomic<bool> quiet{true};
  job.run([&](skel::context& ctx) {
    bool over = false;
    auto const sink = [&](skel::task_id, std::uint64_t) {
      quiet = quiet && !over;
      over = true;
      return skel::flow::stop;
    };
    stopped += skel::farm(ctx, skel::indices(100000), slow_work, skel::guided{}, sink).stopped_early;
  });
  CHECK(stopped == 3);
  CHECK(quiet);
  stopped = 0;
  job.run([&](skel::context& ctx) {
    std::stop_source stop;
    skel::farm_options options;
    if (ctx.rank() == 1) options.stop = stop.get_token();
    std::thread presses(
        [&] { std::this_thread::sleep_for(std::chrono::milliseconds(30)), stop.request_stop(); });
    stopped += skel::farm(
                   ctx, skel::indices(1000000), slow_work, skel::guided{},
                   [](skel::task_id, std::uint64_t) {}, options)
                   .stopped_early;
    presses.join();
  });
  CHECK(stopped == 3);
  stopped = 0;
  job.run([&](skel::context& ctx) {
    skel::farm_options options;
    options.time_limit_seconds = 0.03;
    stopped += skel::farm(
                   ctx, skel::indices(1000000), slow_work, skel::interleaved{},
                   [](skel::task_id, std::uint64_t) {}, options)
                   .stopped_early;
  });
  CHECK(stopped == 3);
  for (int r = 0; r < 3; ++r) CHECK(job.error(r).empty());
}

TEST_CASE("results and tasks larger than a message travel in pieces") {
  hub::job job(3, 2, 1000);
  for (bool ordered : {false, true}) {
    std::vector<std::vector<int>> got;
    auto const take = [&](skel::task_id id, std::vector<int>&& v) {
      if (got.size() <= id) got.resize(id + 1);
      got[id] = std::move(v);
    };
    auto const body = [&](skel::context& ctx, auto sink) {
      auto const open = [] {
        return std::views::iota(0, 60) |
               std::views::transform([](int i) { return std::string(i * 100U, 'x'); });
      };
      skel::farm(
          ctx, skel::on_root(open),
          [](std::string const& s) { return std::vector<int>(s.size(), static_cast<int>(s.size())); },
          skel::first_come{.chunk = 4}, sink);
    };
    job.run([&](skel::context& ctx) {
      if (ordered)
        body(ctx, skel::ordered(take));
      else
        body(ctx, take);
    });
    for (int r = 0; r < 3; ++r) CHECK(job.error(r).empty());
    REQUIRE(got.size() == 60);
    for (int i = 0; i < 60; ++i)
      CHECK(got[static_cast<std::size_t>(i)] == std::vector<int>(i * 100U, i * 100));
  }
}

TEST_CASE("a quantum that ends early because its results are large keeps the payloads of the rest") {
  hub::job job(2, 1);
  std::uint64_t bytes = 0;
  skel::farm_options options;
  options.root = skel::root_role::serves;
  job.run([&](skel::context& ctx) {
    // Cheap at first, so that a quantum holds many tasks; then large.
    auto const f = [](std::uint64_t i) { return std::vector<char>(i < 3000 ? 1 : 50000); };
    skel::farm(
        ctx, counting(3300), f, skel::guided{},
        [&](skel::task_id, std::vector<char>&& v) { bytes += v.size(); }, options);
  });
  CHECK(job.error(0).empty());
  CHECK(bytes == 3000 + 300 * 50000);
}

TEST_CASE("tasks without results are counted") {
  hub::job job(3);
  std::vector<int> seen(40);
  job.run([&](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(40), [](std::uint64_t) {}, skel::guided{}, [&](skel::task_id id) { ++seen[id]; });
  });
  CHECK(seen == std::vector<int>(40, 1));
}

TEST_CASE("a call that differs is refused with the rank that made it") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(ctx.rank() == 2 ? 11 : 10), work, skel::guided{}, skel::into(got));
  });
  for (int r = 0; r < 3; ++r) {
    CHECK(job.error(r).find("rank 2 made another skeleton call") != std::string::npos);
    check_thrown<skel::protocol_error>(job, r);
  }
}

TEST_CASE("a window and tasks dealt beforehand exclude each other") {
  hub::job job(2);
  for (char const* name : {"blocks", "interleaved", "hybrid"}) {
    job.run([&](skel::context& ctx) {
      skel::farm_options options;
      options.window = 4;
      skel::farm(
          ctx, skel::indices(10), work, skel::any_schedule(name), [](skel::task_id, std::uint64_t) {},
          options);
    });
    INFO(name);
    for (int r = 0; r < 2; ++r) check_thrown<skel::usage_error>(job, r);
  }
}

TEST_CASE("copies, and results that merge or tasks that travel, exclude each other") {
  hub::job job(2);
  skel::any_schedule const copies("ring:copies=yes");
  job.run([&](skel::context& ctx) {
    std::uint64_t sum = 0;
    skel::farm(ctx, skel::indices(10), work, copies, skel::reduced(sum, std::plus<>()));
  });
  for (int r = 0; r < 2; ++r) check_thrown<skel::usage_error>(job, r);
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, counting(10), work, copies, [](skel::task_id, std::uint64_t) {});
  });
  for (int r = 0; r < 2; ++r) check_thrown<skel::usage_error>(job, r);
}

TEST_CASE("with copies nobody waits for a slow rank whose task another one has done") {
  hub::job job(2);
  std::chrono::duration<double> root_took{};
  std::vector<std::uint64_t> got;
  job.run([&](skel::context& ctx) {
    auto const begin = std::chrono::steady_clock::now();
    auto const f = [&](std::uint64_t i) {
      if (ctx.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(2));
      return work(i);
    };
    skel::farm(ctx, skel::indices(4), f, skel::any_schedule("ring:copies=yes"), skel::into(got));
    if (ctx.is_root()) root_took = std::chrono::steady_clock::now() - begin;
  });
  CHECK(got == expected(4));
  CHECK(root_took.count() < 1.5);
  for (int r = 0; r < 2; ++r) CHECK(job.error(r).empty());
}

TEST_CASE("the loss of any ranks but the root does not change the results") {
  for (auto const& how : schedules())
    for (bool concentrated : {false, true})
      for (bool serves : {false, true}) {
        hub::job job(4, 2);
        std::vector<std::uint64_t> got;
        skel::farm_options options;
        if (concentrated) options.results = skel::concentrated();
        if (serves) options.root = skel::root_role::serves;
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
        std::atomic<std::uint64_t> again{0};
        job.run([&](skel::context& ctx) {
          auto const f = [&](std::uint64_t i) {
            // The loss comes with most tasks unfinished, however slow the killer is.
            if (++started > 20)
              while (!somebody_dead) std::this_thread::yield();
            return slow_work(i);
          };
          auto const r = skel::farm(ctx, skel::indices(120), f, how, skel::into(got), options);
          if (ctx.is_root()) again = r.tasks_handed_out_again;
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
      skel::farm(ctx, counting(1000), f, skel::first_come{.chunk = 5}, skel::into(got));
      if (!ctx.is_root()) return;
      over = true;
      // As the farewell of run_main does: a suspect that shows up late hears of the end.
      for (int i = 0; i < 20 || !quiet; ++i) {
        static_cast<void>(ctx.engine().try_progress(0));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    trouble.join();
    CHECK(job.error(0).empty());
    CHECK(got == expected(1000));
  }
}
