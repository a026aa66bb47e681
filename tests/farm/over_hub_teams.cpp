// Farms whose tasks run on teams of ranks, over several ranks in one process.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "over_hub.hpp"
#include "skel/skel.hpp"

using namespace farm_test;

namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b; }

// Passes a number around the team three times, so that every rank takes part. Returns the sum of work(i) to
// work(i + 9), which needs no team.
struct circle {
  std::uint64_t first;
  using state = std::uint64_t;
  using message = std::uint64_t;
  state begin(int rank, int size) const {
    std::uint64_t mine = 0;
    for (int k = rank; k < 10; k += size) mine += work(first + static_cast<std::uint64_t>(k));
    return mine;
  }
  bool step(state& mine, skel::superstep<message>& now) const {
    for (auto const& l : now.received()) mine += l.content;
    if (now.number() == 1) return false;
    if (now.rank() != 0) now.send(0, mine);
    return true;
  }
};

std::uint64_t together(skel::context& team, std::uint64_t i) { return skel::bsp(team, circle{i}).value; }

std::vector<std::uint64_t> expected_sums(std::uint64_t n) {
  std::vector<std::uint64_t> all(n, 0);
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t k = 0; k < 10; ++k) all[i] += work(i + k);
  return all;
}

int mixed_size(skel::task_id i) { return std::array{1, 2, 4, 3}[i % 4]; }

// Tasks of teams without this rank wait a little until it has begun `wanted` tasks: on a loaded machine the
// others would run the whole list before.
void wait_for(int rank, std::atomic<int> const& begun, int wanted, skel::context const& team) {
  {
    auto& engine = skel::detail::context_access::engine_of(team);
    std::lock_guard const lock(engine.mutex());
    auto const& ranks = engine.ranks_of(skel::detail::context_access::id(team));
    if (ranks.empty() || std::ranges::count(ranks, rank) > 0) return;
  }
  for (int pauses = 0; pauses < 100 && begun < wanted; ++pauses)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace

TEST_CASE("teams of every size give the same results, on any ranks, with any source") {
  constexpr std::uint64_t n = 40;
  for (int const ranks : {1, 2, 5, 8})
    for (int const size : {1, 2, 3, 9, 0})
      for (bool const stream : {false, true})
        for (bool const serves : {false, true}) {
          CAPTURE(ranks, size, stream, serves);
          hub::job job(ranks, 2);
          std::vector<std::uint64_t> got;
          std::atomic<int> wrong = 0;
          job.run([&](skel::context& ctx) {
            skel::farm_options options{.team_size =
                                           size == 0 ? skel::team_size(mixed_size) : skel::team_size(size)};
            if (serves) options.root = skel::root_role::serves;
            auto const able = ctx.size() - (serves && ctx.size() > 1 ? 1 : 0);
            auto const f = [&](skel::context& team, std::uint64_t i) {
              int const wanted = size == 0 ? mixed_size(i) : size;
              wrong += team.size() == std::min(wanted, able) ? 0 : 1;
              return together(team, i);
            };
            auto const report = stream
                                    ? skel::farm(ctx, counting(n), f, skel::into(got), options).report
                                    : skel::farm(ctx, skel::indices(n), f, skel::into(got), options).report;
            wrong += !ctx.is_root() || report.tasks == n ? 0 : 1;
            wrong += ctx.is_root() && size != 1 && ranks > 1 && report.teams.empty() ? 1 : 0;
          });
          check_no_errors(job, ranks);
          CHECK(got == expected_sums(n));
          CHECK(wrong == 0);
        }
}

TEST_CASE("every sink works with teams, and 0 and 1 tasks") {
  for (std::uint64_t const n : {0, 1, 30}) {
    CAPTURE(n);
    hub::job job(4);
    std::uint64_t total = 0;
    std::vector<std::uint64_t> order;
    std::set<std::uint64_t> ended;
    job.run([&](skel::context& ctx) {
      skel::farm_options const two{.team_size = 2};
      auto const list = skel::indices(n);
      skel::farm(ctx, list, together, skel::reduced(total, sum), two);
      skel::farm(ctx, list, together,
                 skel::ordered([&](skel::task_id i, std::uint64_t) { order.push_back(i); }), two);
      skel::farm(
          ctx, list, [](skel::context&, std::uint64_t) {}, [&](skel::task_id i) { ended.insert(i); }, two);
    });
    check_no_errors(job, 4);
    std::uint64_t right = 0;
    for (auto const x : expected_sums(n)) right += x;
    CHECK(total == right);
    CHECK(order.size() == n);
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(ended.size() == n);
  }
}

TEST_CASE("an ordered sink with a window does not stop teams of mixed sizes") {
  hub::job job(5);
  std::vector<std::uint64_t> order;
  job.run([&](skel::context& ctx) {
    skel::farm_options options{.team_size = skel::team_size(mixed_size)};
    options.results.window = 3;
    skel::farm(ctx, counting(50), together,
               skel::ordered([&](skel::task_id i, std::uint64_t) { order.push_back(i); }), options);
  });
  check_no_errors(job, 5);
  CHECK(order.size() == 50);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("ranks of one team stay together, and the report names the teams") {
  hub::job job(6);
  skel::report report;
  job.run([&](skel::context& ctx) {
    std::vector<std::uint64_t> got;
    auto r = skel::farm(ctx, skel::indices(60), together, skel::into(got), {.team_size = 3}).report;
    if (ctx.is_root()) report = std::move(r);
  });
  check_no_errors(job, 6);
  std::uint64_t ran = 0;
  for (auto const& t : report.teams) ran += t.tasks;
  CHECK(ran == 60);
  REQUIRE(report.teams.size() == 2);
  CHECK(report.teams[0].ranks == std::vector{0, 1, 2});
  CHECK(report.teams[1].ranks == std::vector{3, 4, 5});
}

TEST_CASE("a trace shows a task as a span on each rank of its team") {
  hub::job job(4);
  std::vector<skel::observe::rank_trace> traces;
  job.run([&](skel::context& ctx) {
    ctx.set_trace(true);
    std::vector<std::uint64_t> got;
    skel::farm(ctx, skel::indices(6), together, skel::into(got), {.team_size = 2});
    auto all = ctx.traces();
    if (ctx.is_root()) traces = std::move(all);
  });
  check_no_errors(job, 4);
  REQUIRE(traces.size() == 4);
  std::map<skel::task_id, std::set<int>> where;
  for (auto const& t : traces)
    for (auto const& s : t.spans)
      if (s.what == skel::observe::activity::compute) where[s.first_task].insert(t.rank);
  CHECK(where.size() == 6);
  for (auto const& [task, ranks] : where) {
    CAPTURE(task);
    CHECK((ranks == std::set{0, 1} || ranks == std::set{2, 3}));
  }
}

TEST_CASE("skel chooses the sizes of teams, but not for a stream") {
  hub::job job(6);
  std::atomic<int> wrong = 0;
  job.run([&](skel::context& ctx) {
    // A large task that becomes faster on many ranks, and small ones that do not.
    auto const scaling = [](skel::task_id i) { return i == 3 ? skel::amdahl{0, 20} : skel::amdahl{1, 0}; };
    auto const f = [&](skel::context& team, std::uint64_t i) {
      wrong += (i == 3) == (team.size() > 1) ? 0 : 1;
      return together(team, i);
    };
    auto const seconds = [&](skel::task_id i, int n) { return scaling(i).seconds(n); };
    skel::farm_options const options{.team_size = skel::team_size::chosen(seconds)};
    std::vector<std::uint64_t> got;
    skel::farm(ctx, skel::indices(12), f, skel::into(got), options);
    wrong += !ctx.is_root() || got == expected_sums(12) ? 0 : 1;
    try {
      skel::farm(ctx, counting(12), f, skel::into(got), options);
      ++wrong;
    } catch (skel::usage_error const&) {
    }
  });
  check_no_errors(job, 6);
  CHECK(wrong == 0);
}

TEST_CASE("the scaling of a task is sampled on two teams, or on all ranks") {
  for (int const ranks : {1, 2, 5}) {
    CAPTURE(ranks);
    hub::job job(ranks);
    std::mutex guard;
    std::multiset<int> sizes;
    std::atomic<int> refused = 0;
    skel::amdahl law;
    job.run([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300 / team.size()));
        if (team.is_root()) {
          std::lock_guard const lock(guard);
          sizes.insert(team.size());
        }
        return std::string("dropped");
      };
      auto const l = skel::sample_scaling(ctx, f, 7, 1, 3);
      if (ctx.is_root()) law = l;
      for (int const few : {0, 2}) try {
          static_cast<void>(skel::sample_scaling(ctx, f, 7, few, 2));
        } catch (skel::usage_error const&) {
          ++refused;
        }
    });
    check_no_errors(job, ranks);
    CHECK(sizes == (ranks == 1 ? std::multiset{1} : std::multiset{1, std::min(ranks, 3)}));
    CHECK(refused == 2 * ranks);
    CHECK(law.seconds(1) >= 0.299);
    if (ranks > 1) CHECK(law.parallel_seconds > law.serial_seconds);
  }
}

TEST_CASE("large teams come first, and small ones do not keep them from starting") {
  hub::job job(4);
  std::mutex lock;
  std::vector<std::uint64_t> begun;
  job.run([&](skel::context& ctx) {
    skel::farm_options options{.team_size = [](skel::task_id i) { return i % 10 == 9 ? 4 : 1; }};
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (team.is_root()) {
        std::lock_guard const mine(lock);
        begun.push_back(i);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      return i;
    };
    std::vector<std::uint64_t> got;
    skel::farm(ctx, skel::indices(100), f, skel::into(got), options);
    if (ctx.is_root() && got.size() != 100) throw std::runtime_error("results are missing");
  });
  check_no_errors(job, 4);
  REQUIRE(begun.size() == 100);
  for (std::size_t k = 0; k < 10; ++k) CHECK(begun[k] == 10 * k + 9);
}

TEST_CASE("a failure on one rank of a team is the task's; the others of its team do not hang") {
  for (int const failing : {0, 1, 2}) {  // in the team
    CAPTURE(failing);
    hub::job job(6);
    std::atomic<int> cancelled = 0;
    job.run([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        if (i == 7 && team.rank() == failing) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the others wait for it
          throw std::runtime_error("no water");
        }
        try {
          return together(team, i);
        } catch (skel::lost_rank_error const&) {
          ++cancelled;
          throw;
        }
      };
      std::vector<std::uint64_t> got;
      skel::farm(ctx, skel::indices(20), f, skel::into(got), {.team_size = 3});
    });
    CHECK(cancelled >= 1);
    for (int r = 0; r < 6; ++r) hub::check_thrown<skel::task_error>(job, r);
    CHECK(job.error(0).find("task 7") != std::string::npos);
    CHECK(job.error(5).find("no water") != std::string::npos);
  }
}

TEST_CASE("failed tasks of teams run again or are left out") {
  hub::job job(5, 2);
  std::array<std::atomic<int>, 30> calls{};
  std::vector<std::uint64_t> got, in_order;
  skel::report report;
  job.run([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (i % 7 == 3 && team.is_root() && ++calls[i] <= 2) throw std::runtime_error("not yet");
      return together(team, i);
    };
    skel::farm_options options{.on_error = skel::on_error::retry{.times = 3}, .team_size = 2};
    skel::farm(ctx, skel::indices(30), f, skel::into(got), options);
    options.on_error = skel::on_error::collect{};
    auto const g = [&](skel::context& team, std::uint64_t i) {
      if (i % 7 == 3 && team.rank() == 1) throw std::runtime_error("never");
      return together(team, i);
    };
    auto r =
        skel::farm(ctx, skel::indices(30), g,
                   skel::ordered([&](skel::task_id i, std::uint64_t) { in_order.push_back(i); }), options)
            .report;
    if (ctx.is_root()) report = std::move(r);
  });
  check_no_errors(job, 5);
  CHECK(got == expected_sums(30));
  CHECK(in_order.size() == 26);
  REQUIRE(report.failed_tasks.size() == 4);
  CHECK(report.failed_tasks[1].task == 10);
  CHECK(report.failed_tasks[1].text == "never");
}

TEST_CASE("teams that lose any of their ranks but the root give the same results") {
  for (int const lost : {1, 2, 3, 4, 5})
    for (int const size : {2, 3, 0}) {
      CAPTURE(lost, size);
      constexpr std::uint64_t n = 60;
      hub::job job(6);
      std::vector<std::uint64_t> got;
      std::atomic<int> begun = 0;
      std::atomic<std::uint64_t> again = 0;
      job.run([&](skel::context& ctx) {
        auto const f = [&](skel::context& team, std::uint64_t i) {
          if (ctx.rank() == lost && ++begun == 3) job.kill(lost);
          wait_for(lost, begun, 3, team);
          return together(team, i);
        };
        skel::farm_options const options{.team_size =
                                             size == 0 ? skel::team_size(mixed_size) : skel::team_size(size)};
        auto const report = skel::farm(ctx, skel::indices(n), f, skel::into(got), options).report;
        if (ctx.is_root()) again = report.tasks_handed_out_again;
      });
      for (int r = 0; r < 6; ++r)
        if (r != lost) CHECK(job.error(r).empty());
      CHECK(got == expected_sums(n));
      CHECK(again >= 1);
    }
}

TEST_CASE("the MPI communicator of a team that loses a rank is revoked once on each survivor") {
  for (int const lost : {1, 3, 5}) {
    CAPTURE(lost);
    constexpr std::uint64_t n = 30;
    hub::job job(6);
    std::array<std::atomic<int>, 6> revoked{};
    std::array<std::atomic<int>, n> entered{};
    std::vector<int> members;
    std::vector<std::uint64_t> got;
    std::atomic<int> begun = 0;
    job.run([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        auto& engine = skel::detail::context_access::engine_of(team);
        auto const id = skel::detail::context_access::id(team);
        {
          std::lock_guard const lock(engine.mutex());
          // As context::communicator() does where MPI can revoke.
          engine.on_cancel(id, [&revoked, r = ctx.rank()] { ++revoked.at(static_cast<std::size_t>(r)); });
          if (ctx.rank() == lost && begun == 2) members = engine.ranks_of(id);
        }
        ++entered.at(i);
        if (ctx.rank() == lost && ++begun == 3) {
          while (entered.at(i) < team.size()) std::this_thread::yield();
          job.kill(lost);
        }
        wait_for(lost, begun, 3, team);
        return together(team, i);
      };
      skel::farm(ctx, skel::indices(n), f, skel::into(got), {.team_size = 3});
    });
    CHECK(got == expected_sums(n));
    REQUIRE(members.size() == 3);
    for (int r = 0; r < 6; ++r)
      if (r != lost) CHECK(revoked.at(static_cast<std::size_t>(r)) == std::ranges::count(members, r));
  }
}

TEST_CASE("after losses, teams are as large as the ranks that are left") {
  hub::job job(4);
  std::vector<std::uint64_t> got;
  std::atomic<int> smallest = 9;
  job.run([&](skel::context& ctx) {
    int begun = 0;
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (ctx.rank() != 0 && ++begun == 5 * ctx.rank()) job.kill(ctx.rank());
      int now = smallest;
      while (team.size() < now && !smallest.compare_exchange_weak(now, team.size())) {
      }
      return together(team, i);
    };
    skel::farm_options options{.team_size = 4};
    options.max_losses_per_task = 0;
    skel::farm(ctx, skel::indices(30), f, skel::into(got), options);
  });
  CHECK(job.error(0).empty());
  CHECK(got == expected_sums(30));
  CHECK(smallest == 1);
}

TEST_CASE("a rank that is wrongly thought lost takes part again") {
  hub::job job(4);
  std::vector<std::uint64_t> got;
  std::atomic<int> begun = 0;
  job.run([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (ctx.rank() == 3 && ++begun == 4) {
        job.suspect(3);
        job.heartbeat(3);  // so that it hears of the end, also if all is done before it speaks
      }
      return together(team, i);
    };
    skel::farm(ctx, skel::indices(40), f, skel::into(got), {.team_size = 2});
  });
  check_no_errors(job, 4);
  CHECK(got == expected_sums(40));
}

TEST_CASE("a task that ends ranks is blamed, or left out") {
  for (bool const collects : {false, true}) {
    CAPTURE(collects);
    hub::job job(7);
    std::vector<std::uint64_t> order;
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        if (i == 4 && team.rank() == 1) job.kill(ctx.rank());
        return together(team, i);
      };
      skel::farm_options options{.team_size = 2};
      if (collects) options.on_error = skel::on_error::collect{};
      auto r = skel::farm(ctx, skel::indices(12), f,
                          skel::ordered([&](skel::task_id i, std::uint64_t) { order.push_back(i); }), options)
                   .report;
      if (ctx.is_root()) report = std::move(r);
    });
    if (collects) {
      CHECK(job.error(0).empty());
      CHECK(order.size() == 11);
      REQUIRE(report.failed_tasks.size() == 1);
      CHECK(report.failed_tasks[0].task == 4);
      CHECK(report.failed_tasks[0].times == 2);
    } else {
      hub::check_thrown<skel::task_error>(job, 0);
      CHECK(job.error(0).find("task 4") != std::string::npos);
    }
  }
}

TEST_CASE("teams stop early, and split further") {
  hub::job job(8);
  std::uint64_t seen = 0;
  std::atomic<int> wrong = 0;
  skel::report report;
  job.run([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      auto half = team.split(team.rank() % 2);
      wrong += half.size() == 2 ? 0 : 1;
      std::vector<std::uint64_t> got;
      skel::farm(half, skel::indices(5), work, skel::into(got));
      wrong += !half.is_root() || got == expected(5) ? 0 : 1;
      return together(team, i);
    };
    auto r = skel::farm(ctx, skel::indices(1000), f,
                        [&](skel::task_id, std::uint64_t) {
                          return ++seen == 5 ? skel::flow::stop : skel::flow::go_on;
                        },
                        {.team_size = 4})
                 .report;
    if (ctx.is_root()) report = std::move(r);
  });
  check_no_errors(job, 8);
  CHECK(wrong == 0);
  CHECK(seen == 5);
  CHECK(report.stopped_early);
}

TEST_CASE("two farms of teams follow one another on the same context, and on teams") {
  hub::job job(6);
  std::atomic<int> wrong = 0;
  job.run([&](skel::context& ctx) {
    for (int k = 0; k < 3; ++k) {
      std::vector<std::uint64_t> got;
      skel::farm(ctx, skel::indices(10), together, skel::into(got), {.team_size = 3});
      wrong += !ctx.is_root() || got == expected_sums(10) ? 0 : 1;
    }
    auto half = ctx.split(ctx.rank() % 2);
    std::vector<std::uint64_t> got;
    skel::farm(half, skel::indices(10), together, skel::into(got), {.team_size = 2});
    wrong += !half.is_root() || got == expected_sums(10) ? 0 : 1;
  });
  check_no_errors(job, 6);
  CHECK(wrong == 0);
}

TEST_CASE("misuse of team_size is refused on every rank") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(3), work, skel::into(got), {.team_size = 2});
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::usage_error>(job, r);
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(3), together, skel::into(got), {.team_size = 0});
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::usage_error>(job, r);
  job.run([&](skel::context& ctx) {
    skel::farm_options const none{.task_time_limit_seconds = 0, .team_size = 2};
    skel::farm(ctx, skel::indices(3), together, skel::into(got), none);
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::usage_error>(job, r);
  job.run([&](skel::context& ctx) {
    skel::farm_options const wrong{.team_size = [](skel::task_id i) { return i == 2 ? -1 : 1; }};
    skel::farm(ctx, skel::indices(3), together, skel::into(got), wrong);
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::source_error>(job, r);
  CHECK(job.error(1).find("task 2 wants a team of -1 ranks") != std::string::npos);
}
