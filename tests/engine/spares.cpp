// Spare ranks stand in for ranks that are lost or leave.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "attempts.hpp"
#include "bsp/over_hub.hpp"
#include "catch.hpp"
#include "disks/store_of_three.hpp"
#include "skel/skel.hpp"

namespace spares_test {

using namespace attempts_test;

namespace {

constexpr std::uint64_t tasks = 400;

// What a farm has done when its job is over.
struct record {
  std::array<std::atomic<int>, tasks> runs{};
  std::atomic<int> attempt{0}, size{0}, root{-1};
  std::atomic<std::uint64_t> sum{0};
  skel::report report;
  [[nodiscard]] std::ptrdiff_t again() const {
    return std::ranges::count_if(runs, [](int n) { return n > 1; });
  }
  [[nodiscard]] bool all_ran() const {
    return std::ranges::all_of(runs, [](int n) { return n > 0; });
  }
};

enum class event : std::uint8_t { dies, retires };

// One farm. Once the root has heard of `at` results, this happens to the rank `who` in the first attempt.
void run_farm(job& j, record& r, int who, event what, std::uint64_t at = 150,
              skel::farm_policy const& how = skel::schedule::adaptive{}.policy(), bool root_works = true) {
  std::atomic<bool> now{false};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0, heard = 0;
    auto const attempt = ctx.attempt();
    skel::farm_options options{.task = {.run_once = true}};
    options.root_works = root_works;
    auto const [report] = skel::farm(
        ctx, skel::indices(tasks),
        [&, attempt](std::uint64_t i) {
          if (attempt == 1 && rank == who && now) {
            if (what == event::dies) j.end(rank);
            ctx.retire();
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++r.runs[i];
          return value_of(i);
        },
        how,
        [&](skel::task_id, std::uint64_t x) {
          sum += x;
          if (++heard == at) now = true;
          if (attempt == 1 && now && rank == who && !root_works) j.end(rank);
        },
        options);
    if (!ctx.is_root()) return;
    r.attempt = attempt;
    r.size = ctx.size();
    r.root = rank;
    r.sum = sum;
    r.report = report;
  });
}

}  // namespace

TEST_CASE("a rank of a farm dies: a spare one stands in, and little runs again") {
  using namespace skel::schedule;
  std::vector<skel::farm_policy> const schedules{adaptive{}.policy(), guided{}.policy(),
                                                 first_come{3}.policy(), blocks{}.policy(), ring{}.policy()};
  for (auto const& how : schedules)
    for (int const ranks : {2, 4}) {
      CAPTURE(to_string(how), ranks);
      job j(ranks + 1);
      j.patience = 10;
      j.spares = 1;
      record r;
      run_farm(j, r, ranks - 1, event::dies, 150, how);
      CHECK(r.sum == sum_of(tasks));
      CHECK(r.attempt == 2);
      CHECK(r.size == ranks);
      CHECK(r.root == 0);
      CHECK(r.again() <= 60);  // what the lost rank had computed, and not sent
      REQUIRE(r.report.losses.size() == 1);
      CHECK(r.report.losses[0].rank == ranks - 1);
      CHECK_FALSE(r.report.losses[0].was_root);
      for (int k = 0; k <= ranks; ++k)
        if (k != ranks - 1) CHECK(j.codes[static_cast<std::size_t>(k)] == 0);
    }
}

TEST_CASE("the root dies, and a spare rank joins the others") {
  for (bool const works : {true, false}) {
    CAPTURE(works);
    job j(5);
    j.patience = 10;
    j.spares = 2;
    record r;
    run_farm(j, r, 0, event::dies, 150, skel::schedule::adaptive{}.policy(), works);
    CHECK(r.sum == sum_of(tasks));
    CHECK(r.attempt == 2);
    CHECK(r.size == 3);
    CHECK(r.root == 1);
    CHECK(j.codes[4] == 0);  // was not needed
  }
}

TEST_CASE("a rank retires: a spare one stands in, and no task runs twice") {
  for (int const leaver : {2, 0}) {
    CAPTURE(leaver);
    job j(4);
    j.patience = 10;
    j.spares = 1;
    record r;
    run_farm(j, r, leaver, event::retires);
    CHECK(r.sum == sum_of(tasks));
    CHECK(r.attempt == 2);
    CHECK(r.size == 3);
    CHECK(j.retired == 1);
    if (leaver != 0) CHECK(r.again() == 0);
  }
}

TEST_CASE("two ranks are lost at once, or one after the other, the spare one too") {
  for (int const spares : {1, 2}) {
    CAPTURE(spares);
    job j(4 + spares);
    j.patience = 10;
    j.spares = spares;
    std::atomic<std::uint64_t> total{0}, heard{0};
    std::atomic<int> size{0};
    std::vector<skel::rank_loss> losses;
    j.run([&](skel::context& ctx, int rank) {
      std::uint64_t sum = 0;
      auto const f = [&](std::uint64_t i) {
        if (rank == 2 && heard > 100) j.end(rank);
        if (rank == (spares == 1 ? 4 : 3) && heard > (spares == 1 ? 250 : 100)) j.end(rank);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return value_of(i);
      };
      auto const [report] = skel::farm(ctx, skel::indices(tasks), f, skel::schedule::adaptive{},
                                       [&](skel::task_id, std::uint64_t x) {
                                         sum += x;
                                         ++heard;
                                       });
      if (ctx.is_root()) total = sum, size = ctx.size(), losses = report.losses;
    });
    CHECK(total == sum_of(tasks));
    CHECK(size == 4);
    REQUIRE(losses.size() == 2);
    CHECK(losses[0].rank == 2);
    CHECK(losses[1].rank == (spares == 1 ? 4 : 3));
  }
}

TEST_CASE("ranks that were not needed end with the job, and with its code") {
  for (int const code : {0, 1})
    for (bool const dead_spare : {false, true}) {
      CAPTURE(code, dead_spare);
      job j(5);
      j.patience = 10;
      j.spares = 2;
      if (dead_spare) j.kill(4);
      j.run([&](skel::context& ctx, int) {
        CHECK(ctx.size() == 3);
        std::uint64_t sum = 0;
        skel::farm(ctx, skel::indices(20), value_of, skel::schedule::guided{},
                   skel::reduced(sum, std::plus<>{}));
        if (code != 0 && ctx.rank() == 1) throw std::runtime_error("this rank fails");
      });
      CHECK((j.codes[3] == 0) == (code == 0));
    }
}

TEST_CASE("bsp keeps its size: a spare rank stands in, from the last checkpoint or from the start") {
  for (bool const saves : {true, false})
    for (int const dies : {2, 0}) {
      CAPTURE(saves, dies);
      test::store_of_three const where;
      job j(5);
      j.patience = 10;
      j.spares = 1;
      std::vector<std::uint64_t> cells;
      std::atomic<int> size{0}, attempt{0};
      j.run([&](skel::context& ctx, int rank) {
        bsp_test::circle c;
        auto const now = ctx.attempt();
        c.event = [&, rank, now](int, std::uint64_t n) {
          if (now == 1 && rank == dies && n == 20) j.end(rank);
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        skel::bsp_options options;
        if (saves) options.checkpoint = where.options(false);
        auto const [parts, report] = skel::gather(ctx, c, options);
        if (ctx.is_root() && parts) cells = parts->front().whole, size = ctx.size(), attempt = now;
      });
      CHECK(cells == bsp_test::expected());
      CHECK(size == 4);
      CHECK(attempt == 2);
    }
}

TEST_CASE("teams keep their number: a spare rank stands in") {
  job j(5);
  j.patience = 10;
  j.spares = 1;
  std::atomic<std::uint64_t> total{0}, heard{0};
  std::atomic<int> size{0};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0;
    auto const f = [&](skel::context& team, std::uint64_t i) {
      if (rank == 3 && heard > 10) j.end(rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return skel::broadcast(team, skel::on_root([&] { return value_of(i); })).value.value_or(0);
    };
    skel::farm(
        ctx, skel::indices(60), f, skel::schedule::adaptive{},
        [&](skel::task_id, std::uint64_t x) { sum += x, ++heard; },
        skel::farm_options{.task = {.team_size = 2}});
    if (ctx.is_root()) total = sum, size = ctx.size();
  });
  CHECK(total == sum_of(60));
  CHECK(size == 4);
}

namespace {

// A binary tree of tasks that takes about 2 s on three ranks.
struct tree {
  using task = std::uint64_t;
  using result = std::uint64_t;
  std::function<void(std::uint64_t, int)> event;
  void run(std::uint64_t i, skel::spawner<std::uint64_t>& spawn, std::uint64_t& sum,
           skel::worker_info const& where) const {
    event(i, where.rank);
    sum += value_of(i);
    for (auto const child : {2 * i + 1, 2 * i + 2})
      if (child < 2000) spawn(child);
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace

TEST_CASE("a call that would do too much again ends first, and does not run again") {
  job j(4);
  j.patience = 10;
  j.spares = 1;
  std::atomic<int> ran{0}, size{0}, attempt{0};
  std::atomic<std::uint64_t> stolen{0}, farmed{0};
  j.run([&](skel::context& ctx, int rank) {
    tree const what{[&, rank](std::uint64_t, int) {
      if (++ran > 1400 && rank == 2) j.end(rank);
      std::this_thread::sleep_for(std::chrono::microseconds(2500));
    }};
    auto const value =
        skel::ring_steal(ctx, skel::on_root([] { return std::vector<std::uint64_t>{0}; }), what).value;
    std::uint64_t sum = 0;
    skel::farm(ctx, skel::indices(20), value_of, skel::schedule::guided{}, skel::reduced(sum, std::plus<>{}));
    if (ctx.is_root()) stolen = value, farmed = sum, size = ctx.size(), attempt = ctx.attempt();
  });
  CHECK(stolen == sum_of(2000));
  CHECK(farmed == sum_of(20));
  CHECK(size == 3);
  CHECK(attempt == 2);
  CHECK(ran < 3000);  // what the lost rank had, but not all
}

TEST_CASE("results that no rank remembers are not computed again for a spare rank") {
  job j(4);
  j.patience = 10;
  j.spares = 1;
  j.remember = 0;
  std::atomic<int> ran{0}, attempt{0};
  std::atomic<std::uint64_t> total{0};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0;
    auto const f = [&](std::uint64_t i) {
      if (++ran > 900 && rank == 2) j.end(rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
      return value_of(i);
    };
    skel::farm(ctx, skel::indices(1200), f, skel::schedule::adaptive{},
               [&](skel::task_id, std::uint64_t x) { sum += x; });
    if (ctx.is_root()) total = sum, attempt = ctx.attempt();
  });
  CHECK(total == sum_of(1200));
  CHECK(attempt == 1);
  CHECK(ran < 1400);
}

}  // namespace spares_test
