// Tasks of teams that fail, and teams that lose ranks, over several ranks in one process.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "over_hub.hpp"
#include "skel/skel.hpp"
#include "team_sum.hpp"

using namespace farm_test;

namespace {

// Tasks of teams without this rank wait a little until it has begun `wanted` tasks: on a loaded machine the
// others would run the whole list before.
void wait_for(int rank, std::atomic<int> const& begun, int wanted, skel::context const& team) {
  {
    auto& engine = skel::detail::context_access::engine_of(team);
    std::lock_guard const lock(engine.mutex());
    auto const& ranks = engine.calls().ranks_of(skel::detail::context_access::id(team));
    if (ranks.empty() || std::ranges::count(ranks, rank) > 0) return;
  }
  for (int pauses = 0; pauses < 100 && begun < wanted; ++pauses)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace

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
      skel::farm(ctx, skel::indices(20), f, skel::into(got), {.task = {.team_size = 3}});
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
  auto const report = job.run_well([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (i % 7 == 3 && team.is_root() && ++calls[i] <= 2) throw std::runtime_error("not yet");
      return together(team, i);
    };
    skel::farm_options options{.on_error = skel::on_error::retry{.times = 3}, .task = {.team_size = 2}};
    skel::farm(ctx, skel::indices(30), f, skel::into(got), options);
    options.on_error = skel::on_error::collect{};
    auto const g = [&](skel::context& team, std::uint64_t i) {
      if (i % 7 == 3 && team.rank() == 1) throw std::runtime_error("never");
      return together(team, i);
    };
    auto const sink = [&](skel::task_id i, std::uint64_t) { in_order.push_back(i); };
    return skel::farm(ctx, skel::indices(30), g, skel::ordered(sink), options).report;
  });
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
      auto const report = job.on_root([&](skel::context& ctx) {
        auto const f = [&](skel::context& team, std::uint64_t i) {
          if (ctx.rank() == lost && ++begun == 3) job.kill(lost);
          wait_for(lost, begun, 3, team);
          return together(team, i);
        };
        skel::farm_options const options{
            .task = {.team_size = size == 0 ? skel::team_size(mixed_size) : skel::team_size(size)}};
        return skel::farm(ctx, skel::indices(n), f, skel::into(got), options).report;
      });
      for (int r = 0; r < 6; ++r)
        if (r != lost) CHECK(job.error(r).empty());
      CHECK(got == expected_sums(n));
      CHECK(report.tasks_handed_out_again >= 1);
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
          engine.calls().on_cancel(id,
                                   [&revoked, r = ctx.rank()] { ++revoked.at(static_cast<std::size_t>(r)); });
          if (ctx.rank() == lost && begun == 2) members = engine.calls().ranks_of(id);
        }
        ++entered.at(i);
        if (ctx.rank() == lost && ++begun == 3) {
          while (entered.at(i) < team.size()) std::this_thread::yield();
          job.kill(lost);
        }
        wait_for(lost, begun, 3, team);
        return together(team, i);
      };
      skel::farm(ctx, skel::indices(n), f, skel::into(got), {.task = {.team_size = 3}});
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
    skel::farm_options options{.task = {.team_size = 4}};
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
  job.run_well([&](skel::context& ctx) {
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (ctx.rank() == 3 && ++begun == 4) {
        job.suspect(3);
        job.heartbeat(3);  // so that it hears of the end, also if all is done before it speaks
      }
      return together(team, i);
    };
    skel::farm(ctx, skel::indices(40), f, skel::into(got), {.task = {.team_size = 2}});
  });
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
      skel::farm_options options{.task = {.team_size = 2}};
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
