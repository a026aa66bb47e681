// Ranks leave because they were asked to: nothing is lost, and nothing runs twice.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <tuple>
#include <vector>

#include "attempts.hpp"
#include "catch.hpp"
#include "disks/store_of_three.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"

namespace retirement_test {

using namespace attempts_test;

namespace {

constexpr std::uint64_t tasks = 600;

// How often each task has run, and on which rank.
struct counts {
  std::array<std::atomic<int>, tasks> runs{};
  std::array<std::array<std::atomic<int>, tasks>, 5> by{};  // by rank in the job
  std::uint64_t run(std::uint64_t i, int rank) {
    ++runs[i];
    ++by[static_cast<std::size_t>(rank)][i];
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return value_of(i);
  }
  [[nodiscard]] std::uint64_t twice() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(runs, [](int n) { return n != 1; }));
  }
};

// What the root of the last attempt has.
struct at_end {
  std::atomic<int> attempt{0}, size{0};
  std::atomic<std::uint64_t> sum{0};
  skel::report report;
};

struct setting {
  int ranks = 4;
  std::vector<int> leavers{};  // as numbered in the job
  skel::farm_policy how = skel::schedule::adaptive{}.policy();
  skel::farm_options options{.task = {.run_once = true}};
  std::uint64_t at = 60;  // results after which they are asked
};

void run(setting const& s, counts& c, at_end& end, job& j) {
  std::atomic<bool> asked{false};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0, heard = 0;
    auto const leaves = std::ranges::find(s.leavers, rank) != s.leavers.end();
    std::jthread asks;
    if (leaves && ctx.attempt() == 1)
      asks = std::jthread([&](std::stop_token const& stop) {
        while (!asked && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ctx.retire();
      });
    auto const [report] = skel::farm(
        ctx, skel::indices(tasks), [&](std::uint64_t i) { return c.run(i, rank); }, s.how,
        [&](skel::task_id, std::uint64_t x) {
          sum += x;
          if (++heard == s.at) asked = true;
        },
        s.options);
    if (!ctx.is_root()) return;
    end.attempt = ctx.attempt();
    end.size = ctx.size();
    end.sum = sum;
    end.report = report;
  });
}

// A task n has n tasks n - 1.
struct children {
  using task = unsigned;
  using result = std::uint64_t;
  skel::context* ctx;
  bool leaves;
  void run(unsigned n, skel::spawner<unsigned>& spawn, std::uint64_t& count) const {
    if (leaves) ctx->retire();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++count;
    for (unsigned i = 0; i < n; ++i) spawn(n - 1);
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace

TEST_CASE("a rank retires from a farm: it hands back its tasks, and none runs twice") {
  using namespace skel::schedule;
  std::vector<skel::farm_policy> const schedules{adaptive{}.policy(), guided{}.policy(),
                                                 first_come{3}.policy(), blocks{}.policy(), ring{}.policy()};
  for (auto const& how : schedules)
    for (int const ranks : {2, 3, 5}) {
      CAPTURE(to_string(how), ranks);
      job j(ranks);
      j.patience = 10;
      counts c;
      at_end end;
      run({.ranks = ranks, .leavers = {ranks - 1}, .how = how}, c, end, j);
      CHECK(end.sum == sum_of(tasks));
      CHECK(end.attempt == 1);
      CHECK(j.retired == 1);
      CHECK(c.twice() == 0);
      CHECK(end.report.lost_ranks == std::vector{ranks - 1});
      REQUIRE(end.report.losses.size() == 1);
      CHECK(end.report.losses[0].noticed == skel::loss_notice::retired);
      CHECK(std::ranges::all_of(j.codes, [](int code) { return code == 0; }));
    }
}

TEST_CASE("the root retires: the others begin again, and only what it has run itself runs twice") {
  for (bool const serves : {false, true})
    for (int const ranks : {2, 3, 5}) {
      CAPTURE(serves, ranks);
      job j(ranks);
      j.patience = 10;
      counts c;
      at_end end;
      setting s{.ranks = ranks, .leavers = {0}};
      s.options.root_works = !serves;
      run(s, c, end, j);
      CHECK(end.sum == sum_of(tasks));
      CHECK(end.attempt == 2);
      CHECK(end.size == ranks - 1);
      CHECK(j.retired == 1);
      std::uint64_t at_first_root = 0;
      for (std::uint64_t i = 0; i < tasks; ++i) {
        if (c.runs[i] == 2 && c.by[0][i] == 1) ++at_first_root;
      }
      CHECK(c.twice() == at_first_root);
      if (serves) CHECK(at_first_root == 0);
      REQUIRE(end.report.losses.size() == 1);
      CHECK(end.report.losses[0].was_root);
      CHECK(end.report.losses[0].noticed == skel::loss_notice::retired);
    }
}

TEST_CASE("all ranks are asked to retire: the last one stays, and has all results") {
  for (bool const restarts : {true, false}) {
    job j(4, restarts);
    j.patience = 10;
    counts c;
    at_end end;
    run({.leavers = {0, 1, 2, 3}}, c, end, j);
    CHECK(end.sum == sum_of(tasks));
    CHECK(j.retired == 3);
    CHECK(end.attempt <= (restarts ? 4 : 1));
  }
}

TEST_CASE("ranks retire from a farm whose results are merged, ordered or few") {
  for (int const ranks : {2, 4}) {
    job j(ranks);
    j.patience = 10;
    std::atomic<int> runs{0};
    std::atomic<std::uint64_t> sum{0}, ordered{0};
    j.run([&](skel::context& ctx, int) {
      std::uint64_t total = 0, next = 0;
      bool const leaves = ctx.rank() == ctx.size() - 1;
      skel::farm(
          ctx, skel::indices(tasks),
          [&, leaves](std::uint64_t i) {
            if (++runs == 100 || (leaves && i % 7 == 0)) ctx.retire();
            return value_of(i);
          },
          skel::schedule::adaptive{}, skel::reduced(total, std::plus<>{}),
          skel::farm_options{.task = {.run_once = true}});
      if (ctx.is_root()) sum = total;
      skel::farm(ctx, skel::indices(tasks), value_of, skel::schedule::guided{},
                 skel::ordered([&](skel::task_id id, std::uint64_t) { next += id == next ? 1 : tasks; }));
      if (ctx.is_root()) ordered = next;
    });
    CHECK(sum == sum_of(tasks));
    CHECK(ordered == tasks);
    CHECK(j.retired >= 1);
  }
}

namespace {

constexpr std::uint64_t nodes = 3000;

// A binary tree: node i has the children 2i + 1 and 2i + 2. A rank is asked to leave by one of its own tasks.
struct tree {
  using task = std::uint64_t;
  using result = std::uint64_t;
  struct what_ran {
    std::vector<std::atomic<int>> runs = std::vector<std::atomic<int>>(nodes);
    std::atomic<std::uint64_t> all{0};
    std::atomic<int> gone{0};  // ranks that had left when the latest task ended
  };
  skel::context* ctx;
  job const* of;
  what_ran* ran;
  std::vector<int> leavers;
  void run(std::uint64_t i, skel::spawner<std::uint64_t>& spawn, std::uint64_t& sum,
           skel::worker_info const& where) const {
    ++ran->runs[i];
    auto const n = ++ran->all;
    for (std::size_t k = 0; k < leavers.size(); ++k)
      if (where.rank == leavers[k] && n > 300 * (k + 1)) ctx->retire();
    bool const waits = n > nodes / 2 && of->retired < static_cast<int>(leavers.size());
    std::this_thread::sleep_for(std::chrono::microseconds(waits ? 2000 : 200));
    ran->gone = of->retired.load();
    sum += value_of(i);
    for (auto const child : {2 * i + 1, 2 * i + 2})
      if (child < nodes) spawn(child);
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace

TEST_CASE("ranks retire in the middle of a ring_steal: no task runs twice") {
  std::vector<std::vector<int>> const all{{1, 3}, {3, 2, 1}, {1}};
  for (auto const& leavers : all)
    for (unsigned const threads : {1U, 2U})
      for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one}) {
        CAPTURE(leavers, threads, take);
        job j(leavers.size() == 1 ? 2 : 4);
        j.patience = 10;
        j.compute_threads = threads;
        tree::what_ran ran;
        std::uint64_t sum = 0;
        skel::report report;
        j.run([&](skel::context& ctx, int) {
          auto const [value, of] =
              skel::ring_steal(ctx, skel::on_root([] { return std::vector<std::uint64_t>{0}; }),
                               tree{&ctx, &j, &ran, leavers}, skel::schedule::stealing{.take = take});
          if (ctx.is_root()) sum = value, report = of;
        });
        CHECK(sum == sum_of(nodes));
        CHECK(std::ranges::all_of(ran.runs, [](int n) { return n == 1; }));
        CHECK(ran.gone == static_cast<int>(leavers.size()));
        CHECK(j.retired == static_cast<int>(leavers.size()));
        CHECK(report.tasks == nodes);
        CHECK(report.tasks_handed_out_again == 0);
        CHECK(report.lost_ranks.size() == leavers.size());
      }
}

TEST_CASE("ranks retire from a farm on teams: no task runs twice, and the root keeps what it has saved") {
  for (int const leaver : {2, 3, 0})
    for (int const size : {1, 2, 4}) {
      CAPTURE(leaver, size);
      bool const saves = leaver == 0;
      test::store_of_three const where;
      job j(4);
      j.patience = 10;
      std::array<std::atomic<int>, 60> runs{};
      std::atomic<std::uint64_t> heard{0}, total{0};
      std::atomic<int> lost{0}, after{0};
      std::atomic<bool> asked{false};
      j.run([&](skel::context& ctx, int rank) {
        std::uint64_t sum = 0;
        std::jthread asks;
        if (rank == leaver && ctx.attempt() == 1)
          asks = std::jthread([&](std::stop_token const& stop) {
            while (heard < 10 && !stop.stop_requested())
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ctx.retire();
            asked = true;
          });
        skel::farm_options options{.task = {.team_size = size}};
        if (saves) options.checkpoint = where.options(false);
        if (saves) options.checkpoint->every_seconds = 1000;  // only when the root leaves
        auto const f = [&](skel::context& team, std::uint64_t i) {
          if (team.is_root()) ++runs[i];
          if (heard >= 55 && rank == leaver) ++after;
          for (int k = 0; k < 5000 && i >= 30 && !asked; ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          std::this_thread::sleep_for(std::chrono::milliseconds(i >= 40 && j.retired == 0 ? 30 : 4));
          return skel::broadcast(team, skel::on_root([&] { return value_of(i); })).value.value_or(0);
        };
        auto const [report] = skel::farm(
            ctx, skel::indices(runs.size()), f, skel::schedule::adaptive{},
            [&](skel::task_id, std::uint64_t x) { sum += x, ++heard; }, options);
        if (ctx.is_root()) total = sum, lost = static_cast<int>(report.losses.size());
      });
      CHECK(total == sum_of(runs.size()));
      CHECK(std::ranges::all_of(runs, [](int n) { return n == 1; }));
      CHECK(j.retired == 1);
      CHECK(lost == 1);
      CHECK(after == 0);
    }
}

TEST_CASE("a rank retires from a group that it does not lead: no piece is processed twice") {
  constexpr std::uint64_t units = 40;
  int retired = 0;
  for (unsigned const size : {2, 4})
    for (int const leaver : {1, 2, 3}) {
      CAPTURE(size, leaver);
      std::atomic<int> reads{0}, processed{0};
      groups::slices what;
      what.process_time = std::chrono::milliseconds(2);
      what.reads = &reads;
      what.processed = &processed;
      groups::written out;
      job j(4);
      j.patience = 10;
      j.run([&](skel::context& ctx, int rank) {
        std::jthread asks;
        if (rank == leaver)
          asks = std::jthread([&](std::stop_token const& stop) {
            while (processed < 20 && !stop.stop_requested())
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ctx.retire();
          });
        skel::multi_host_options options;
        options.group_size = size;
        skel::multi_host(ctx, units, what, std::ref(out), options);
      });
      int pieces = 0;
      for (std::uint64_t n = 0; n < units; ++n) pieces += static_cast<int>(what.pieces(n));
      CHECK(out.text == what.expected(units));
      CHECK(processed == pieces);
      retired += j.retired;
    }
  CHECK(retired >= 3);  // the others lead
}

TEST_CASE("a rank retires between two calls, and from a call that must end first") {
  job j(4);
  j.patience = 10;
  std::atomic<std::uint64_t> leaves{0}, second{0};
  std::atomic<int> lost{0};
  std::atomic<bool> after{false};
  j.run([&](skel::context& ctx, int rank) {
    if (rank == 2) ctx.retire();
    std::ignore = skel::gather(ctx, rank);
    if (rank == 2) after = true;
    auto rest = ctx.team({0, 1, 3});
    auto const [all, ignored] = skel::ring_steal(rest, skel::on_root([] { return std::vector<unsigned>{5}; }),
                                                 children{&ctx, rank == 3});
    if (ctx.is_root()) leaves = all;
    std::uint64_t sum = 0;
    auto const [report] = skel::farm(ctx, skel::indices(tasks), value_of, skel::schedule::adaptive{},
                                     [&](skel::task_id, std::uint64_t x) { sum += x; });
    if (ctx.is_root()) second = sum, lost = static_cast<int>(report.losses.size());
  });
  CHECK(leaves == 326);
  CHECK(second == sum_of(tasks));
  CHECK(j.retired == 2);
  CHECK(lost == 2);
  CHECK_FALSE(after);
}

}  // namespace retirement_test
