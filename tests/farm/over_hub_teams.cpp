// Farms whose tasks run on teams of ranks, over several ranks in one process.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "over_hub.hpp"
#include "skel/skel.hpp"
#include "team_sum.hpp"

using namespace farm_test;

namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b; }

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
          job.run_well([&](skel::context& ctx) {
            skel::farm_options options{
                .task = {.team_size = size == 0 ? skel::team_size(mixed_size) : skel::team_size(size)}};
            if (serves) options.root_works = false;
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
    job.run_well([&](skel::context& ctx) {
      skel::farm_options const two{.task = {.team_size = 2}};
      auto const list = skel::indices(n);
      skel::farm(ctx, list, together, skel::reduced(total, sum), two);
      skel::farm(ctx, list, together,
                 skel::ordered([&](skel::task_id i, std::uint64_t) { order.push_back(i); }), two);
      skel::farm(
          ctx, list, [](skel::context&, std::uint64_t) {}, [&](skel::task_id i) { ended.insert(i); }, two);
    });
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
  job.run_well([&](skel::context& ctx) {
    skel::farm_options options{.task = {.team_size = skel::team_size(mixed_size)}};
    options.results.window = 3;
    skel::farm(ctx, counting(50), together,
               skel::ordered([&](skel::task_id i, std::uint64_t) { order.push_back(i); }), options);
  });
  CHECK(order.size() == 50);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("ranks of one team stay together, and the report names the teams") {
  hub::job job(6);
  auto const report = job.run_well([&](skel::context& ctx) {
    std::vector<std::uint64_t> got;
    return skel::farm(ctx, skel::indices(60), together, skel::into(got), {.task = {.team_size = 3}}).report;
  });
  std::uint64_t ran = 0;
  for (auto const& t : report.teams) ran += t.tasks;
  CHECK(ran == 60);
  REQUIRE(report.teams.size() == 2);
  CHECK(report.teams[0].ranks == std::vector{0, 1, 2});
  CHECK(report.teams[1].ranks == std::vector{3, 4, 5});
}

TEST_CASE("teams on one host do not span hosts, whose ranks come in turn") {
  for (int const size : {1, 2, 3, 4, 9}) {
    CAPTURE(size);
    // Hosts 0 and 1 have three ranks, host 2 has two.
    hub::job job(8, 1, std::size_t{1} << 30, {}, {}, [](int rank, skel::context_options& options) {
      options.host.name = "h" + std::to_string(rank % 3);
    });
    std::vector<std::uint64_t> got;
    std::atomic<int> wrong = 0;
    auto const report = job.run_well([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        wrong += team.size() == std::min(size, 3) ? 0 : 1;
        return together(team, i);
      };
      skel::farm_options const options{.task = {.team_size = size, .team_on_one_host = true}};
      return skel::farm(ctx, skel::indices(40), f, skel::into(got), options).report;
    });
    CHECK(got == expected_sums(40));
    CHECK(wrong == 0);
    for (auto const& t : report.teams)
      for (int const r : t.ranks) CHECK(r % 3 == t.ranks.front() % 3);
  }
}

TEST_CASE("a trace shows a task as a span on each rank of its team") {
  hub::job job(4);
  auto const traces = job.run_well([&](skel::context& ctx) {
    ctx.set_trace(true);
    std::vector<std::uint64_t> got;
    skel::farm(ctx, skel::indices(6), together, skel::into(got), {.task = {.team_size = 2}});
    return ctx.traces();
  });
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
  job.run_well([&](skel::context& ctx) {
    // A large task that becomes faster on many ranks, and small ones that do not.
    auto const scaling = [](skel::task_id i) { return i == 3 ? skel::amdahl{0, 20} : skel::amdahl{1, 0}; };
    auto const f = [&](skel::context& team, std::uint64_t i) {
      wrong += (i == 3) == (team.size() > 1) ? 0 : 1;
      return together(team, i);
    };
    auto const seconds = [&](skel::task_id i, int n) { return scaling(i).seconds(n); };
    skel::farm_options const options{.task = {.team_size = skel::team_size::chosen(seconds)}};
    std::vector<std::uint64_t> got;
    skel::farm(ctx, skel::indices(12), f, skel::into(got), options);
    wrong += !ctx.is_root() || got == expected_sums(12) ? 0 : 1;
    try {
      skel::farm(ctx, counting(12), f, skel::into(got), options);
      ++wrong;
    } catch (skel::usage_error const&) {
    }
  });
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
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, int) {
        // A loaded machine may wake up a team 0.1 s late.
        std::this_thread::sleep_for(std::chrono::milliseconds(600 / team.size()));
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
    CHECK(sizes == (ranks == 1 ? std::multiset{1} : std::multiset{1, std::min(ranks, 3)}));
    CHECK(refused == 2 * ranks);
    CHECK(law.seconds(1) >= 0.599);
    if (ranks > 1) CHECK(law.parallel_seconds > law.serial_seconds);
  }
}

TEST_CASE("large teams come first, and small ones do not keep them from starting") {
  hub::job job(4);
  std::mutex lock;
  std::vector<std::uint64_t> begun;
  job.run_well([&](skel::context& ctx) {
    skel::farm_options options{.task = {.team_size = [](skel::task_id i) { return i % 10 == 9 ? 4 : 1; }}};
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
  REQUIRE(begun.size() == 100);
  for (std::size_t k = 0; k < 10; ++k) CHECK(begun[k] == 10 * k + 9);
}

TEST_CASE("teams stop early, and split further") {
  hub::job job(8);
  std::uint64_t seen = 0;
  std::atomic<int> wrong = 0;
  auto const report = job.run_well([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      auto half = team.split(team.rank() % 2);
      wrong += half.size() == 2 ? 0 : 1;
      std::vector<std::uint64_t> got;
      skel::farm(half, skel::indices(5), work, skel::into(got));
      wrong += !half.is_root() || got == expected(5) ? 0 : 1;
      return together(team, i);
    };
    auto const sink = [&](skel::task_id, std::uint64_t) {
      return ++seen == 5 ? skel::results::flow::stop : skel::results::flow::go_on;
    };
    return skel::farm(ctx, skel::indices(1000), f, sink, {.task = {.team_size = 4}}).report;
  });
  CHECK(wrong == 0);
  CHECK(seen == 5);
  CHECK(report.stopped_early);
}

TEST_CASE("a stop of the job lets calls inside tasks finish: a part of a result must not pass for one") {
  for (int const size : {1, 2}) {
    CAPTURE(size);
    hub::job job(4);
    std::atomic<int> wrong = 0;
    std::atomic<std::uint64_t> begun = 0;
    std::uint64_t seen = 0;
    auto const report = job.run_well([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        if (team.is_root()) ++begun;
        auto const step = [&](std::uint64_t k) {
          if (i == 12 && k == 5) ctx.request_stop();  // the root has the results of others
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          return k;
        };
        std::uint64_t total = 0;
        skel::farm(team, skel::indices(50), step, skel::reduced(total, sum));
        return total;
      };
      auto const sink = [&](skel::task_id, std::uint64_t total) {
        ++seen;
        wrong += total == 49 * 50 / 2 ? 0 : 1;
      };
      return skel::farm(ctx, skel::indices(1000), f, sink, {.task = {.team_size = size}}).report;
    });
    CHECK(wrong == 0);
    CHECK(seen > 0);
    CHECK(seen == begun);  // the results of tasks that run when the stop comes count
    CHECK(report.tasks == seen);
    CHECK(report.stopped_early);
  }
}

TEST_CASE("two farms of teams follow one another on the same context, and on teams") {
  hub::job job(6);
  std::atomic<int> wrong = 0;
  job.run_well([&](skel::context& ctx) {
    for (int k = 0; k < 3; ++k) {
      std::vector<std::uint64_t> got;
      skel::farm(ctx, skel::indices(10), together, skel::into(got), {.task = {.team_size = 3}});
      wrong += !ctx.is_root() || got == expected_sums(10) ? 0 : 1;
    }
    auto half = ctx.split(ctx.rank() % 2);
    std::vector<std::uint64_t> got;
    skel::farm(half, skel::indices(10), together, skel::into(got), {.task = {.team_size = 2}});
    wrong += !half.is_root() || got == expected_sums(10) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("misuse of team_size is refused on every rank") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(3), work, skel::into(got), {.task = {.team_size = 2}});
  });
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(3), together, skel::into(got), {.task = {.team_size = 0}});
  });
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm_options const none{.task = {.time_limit_seconds = 0, .team_size = 2}};
    skel::farm(ctx, skel::indices(3), together, skel::into(got), none);
  });
  job.all_throw<skel::source_error>([&](skel::context& ctx) {
    skel::farm_options const wrong{.task = {.team_size = [](skel::task_id i) { return i == 2 ? -1 : 1; }}};
    skel::farm(ctx, skel::indices(3), together, skel::into(got), wrong);
  });
  CHECK(job.error(1).find("task 2 wants a team of -1 ranks") != std::string::npos);
}
