// multi_host calls that fail or end early: exceptions, stops, calls that differ, lost ranks.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "engine/remembered_results.hpp"
#include "over_hub.hpp"

using namespace std::chrono_literals;
using groups::run;
using groups::size;
using groups::slices;
using groups::written;
using hub::check_thrown;

TEST_CASE("a call ends early when the sink or the caller requests it") {
  slices what;
  what.process_time = 50us;
  hub::job job(4, 1);
  std::atomic<int> stopped{0};
  job.run([&](skel::context& ctx) {
    auto const r = skel::multi_host(
                       ctx, 200, what,
                       [](std::uint64_t unit, std::uint64_t, slices::result&&) {
                         return unit < 3 ? skel::results::flow::go_on : skel::results::flow::stop;
                       },
                       size(2))
                       .report;
    stopped += r.stopped_early && r.tasks == 4 ? 1 : 0;
  });
  CHECK(stopped == 4);
  job.run([&](skel::context& ctx) {
    auto how = size(2);
    std::stop_source source;
    how.stop = source.get_token();
    if (ctx.rank() == 3) source.request_stop();
    auto const r = skel::multi_host(
                       ctx, 100000, what, [](std::uint64_t, std::uint64_t, slices::result&&) {}, how)
                       .report;
    stopped += r.stopped_early ? 1 : 0;
  });
  CHECK(stopped == 8);
}

TEST_CASE("contradictory options and calls that differ are rejected") {
  hub::job job(2, 1);
  auto const refused = [&](auto change) {
    auto how = size(1);
    change(how);
    run(job, 3, slices{}, how);
    for (int r = 0; r < 2; ++r) check_thrown<skel::usage_error>(job, r);
    return job.error(0);
  };
  CHECK(refused([](auto& o) { o.power = {1}; }) == "multi_host: expected 2 powers, one per rank, found 1");
  CHECK(refused([](auto& o) {
          o.power = {1, -1};
        }) == "multi_host: the power of a rank must be a positive number");
  CHECK(refused([](auto& o) {
          o.power = {1, 2};
          o.measures.measure_power = true;
        }) == "multi_host: power and measure_power exclude each other");
  CHECK(refused([](auto& o) {
          o.measures.preload = true;
          o.group_size = 0;
        }).starts_with("multi_host: preload requires a group_size"));
  CHECK(refused([](auto& o) { o.sink_cost = -1; }) ==
        "multi_host: sink_cost must be a finite number, at least 0, found -1");
  // A negative number in a variable becomes a large one; literals do not compile.
  constexpr auto minus_three = static_cast<unsigned>(-3);
  constexpr auto minus_four = static_cast<std::uint64_t>(-4);
  CHECK(refused([](auto& o) { o.group_size = minus_three; }) ==
        "multi_host: group_size must be at least 0, found -3");
  CHECK(refused([](auto& o) { o.measures.read_ahead = minus_three; }) ==
        "multi_host: read_ahead must be at least 0, found -3");
  CHECK(refused([](auto& o) { o.time_limit_seconds = -0.5; }) ==
        "multi_host: time_limit_seconds must be a number of seconds from 0 on, found -0.5");
  run(job, minus_four, slices{}, size(1));
  CHECK(job.error(1) == "multi_host: the number of units must be at least 0, found -4");
  auto const text = job.all_throw<skel::protocol_error>([&](skel::context& ctx) {
    skel::multi_host(
        ctx, ctx.is_root() ? 3 : 4, slices{}, [](std::uint64_t, std::uint64_t, slices::result&&) {}, size(1));
  });
  CHECK(text.find("rank 1 made another skeleton call than the root") != std::string::npos);
  CHECK(run(job, 9, slices{}, size(1)) == slices{}.expected(9));
}

TEST_CASE("the output is the same after the loss of workers and hosts") {
  slices what;
  what.read_time = 200us;
  what.process_time = 300us;
  for (auto const& victims : std::vector<std::vector<int>>{{1}, {2}, {4}, {2, 3}, {1, 2, 3, 4, 5}})
    for (unsigned n : {1U, 2U, 3U, 6U})
      for (auto const after : {1ms, 4ms, 9ms}) {
        INFO("groups of " << n << ", " << victims.size() << " victims, the first rank " << victims.front());
        hub::job job(6, 1);
        std::thread killer([&] {
          std::this_thread::sleep_for(after);
          for (int const v : victims) job.kill(v);
        });
        skel::report r;
        auto options = size(n);
        options.max_losses_per_task = 0;  // a piece may be on one rank after another when it is killed
        auto const text = run(job, 24, what, options, &r);
        killer.join();
        CAPTURE(job.error(0), r.lost_ranks);
        CHECK(text == what.expected(24));
        CHECK(job.error(0).empty());
        for (int const lost : r.lost_ranks) CHECK(std::count(victims.begin(), victims.end(), lost) == 1);
      }
}

TEST_CASE("false suspicions do not change the output") {
  slices what;
  what.read_time = 100us;
  what.process_time = 100us;
  for (unsigned n : {1U, 2U, 4U}) {
    hub::job job(4, 1);
    std::atomic<int> processed{0};
    what.processed = &processed;
    int total = 0;
    for (std::uint64_t u = 0; u < 40; ++u) total += static_cast<int>(what.pieces(u));
    // Suspicions stop before the end: a rank that is suspected at the end is cleared by the root's failure
    // detector, and this transport has none.
    std::thread accuser([&] {
      for (int i = 0; processed < total / 3; ++i) {
        job.suspect(i % 4, 1 + i % 3);
        std::this_thread::sleep_for(300us);
        for (int r = 0; r < 4; ++r)
          for (int q = 0; q < 4; ++q)
            if (r != q) job.heartbeat(r, q);
        std::this_thread::sleep_for(300us);
      }
    });
    auto const text = run(job, 40, what, size(n));
    accuser.join();
    CHECK(text == what.expected(40));
    CHECK(job.error(0).empty());
  }
}

namespace {

// A piece that kills the rank that processes it, or a unit that kills the rank that reads it.
struct deadly_slices : slices {
  hub::job* job = nullptr;
  std::uint64_t deadly_row = 0;
  std::uint64_t deadly_unit = ~std::uint64_t{0};

  void end(int rank) const {
    std::this_thread::sleep_for(30ms);  // lets its messages arrive: the hub drops those in flight
    job->kill(rank);
  }
  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const {
    if (number == deadly_unit) end(where);
    return slices::read(number, c, into);
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    if (p.rows.at(i) == deadly_row) end(where);
    return slices::process(p, i);
  }
  int where = 0;  // this rank
};

// Runs the call on 8 ranks in two groups; the root does not die.
void ends_with(deadly_slices what, std::string const& blamed) {
  hub::job job(8, 1);
  what.job = &job;
  what.read_time = 100us;
  what.process_time = 200us;
  auto how = size(4);
  how.measures.reassign = false;    // keeps the root from helping
  how.measures.host_helps = false;  // if a host processed the piece, only its unit would be known
  std::atomic<std::uint64_t> tasks{0};
  job.run([&](skel::context& ctx) {
    auto own = what;
    own.where = ctx.rank();
    written out;
    try {
      skel::multi_host(ctx, 24, own, std::ref(out), how);
    } catch (skel::task_error const& e) {
      if (e.task() == 19) ++tasks;
      throw;
    }
  });
  check_thrown<skel::task_error>(job, 0);
  CHECK(job.error(0).find(blamed) != std::string::npos);
  CHECK(job.error(0).find(" was running on each of the lost ranks ") != std::string::npos);
  CHECK(tasks >= 2);  // the root and other survivors
  CHECK(run(job, 24, slices{}, size(2)) == slices{}.expected(24));
}

}  // namespace

TEST_CASE("a piece that kills one rank after another is blamed, and the survivors go on") {
  deadly_slices what;
  REQUIRE(what.pieces(19) > 2);
  what.deadly_row = what.row(19, 1);
  ends_with(what, "piece 1 of unit 19 ");
}

TEST_CASE("a unit that kills one host after another is blamed, and the survivors go on") {
  deadly_slices what;
  what.deadly_unit = 19;
  ends_with(what, "reading unit 19 or one of its pieces ");
}

TEST_CASE("the loss of the root ends the call on the other ranks") {
  slices what;
  what.process_time = 100us;
  std::atomic<int> processed{0};
  what.processed = &processed;
  hub::job job(3, 1);
  std::thread killer([&] {
    while (processed < 100) std::this_thread::yield();
    for (int r : {1, 2}) job.suspect(r, 0);
    std::this_thread::sleep_for(5ms);
    for (int r : {1, 2}) job.suspect(0, r);
  });
  job.run([&](skel::context& ctx) {
    auto how = size(1);
    if (ctx.is_root()) how.time_limit_seconds = 1.0;
    skel::multi_host(
        ctx, 100000, what, [](std::uint64_t, std::uint64_t, slices::result&&) {}, how);
  });
  killer.join();
  for (int r : {1, 2}) check_thrown<skel::lost_rank_error>(job, r);
}

namespace {

// The first units have no pieces, so reading them is all that they need.
struct late_slices {
  using carried = int;
  using unit = std::uint64_t;
  using packet = std::uint64_t;
  using result = std::uint64_t;
  static std::uint64_t pieces(std::uint64_t number) { return number < 4 ? 0 : 3; }
  std::uint64_t read(std::uint64_t number, carried&, unit& into) const {
    // Remembering pays, and a worker that leaves has time to do so before there are pieces.
    if (number >= 4) std::this_thread::sleep_for(number == 8 ? 50ms : 3ms);
    into = number;
    return pieces(number);
  }
  [[nodiscard]] packet cut(unit u, std::uint64_t first, std::uint64_t) const { return 100 * u + first; }
  [[nodiscard]] result process(packet p, std::size_t i) const { return p + i; }
};

}  // namespace

TEST_CASE("a host on the root goes on behind units that another rank remembers") {
  constexpr std::uint64_t units = 24;
  auto how = size(2);
  how.measures.host_helps = false;
  how.measures.split_shares = false;  // rank 2 of 12 leads units 4 to 7
  std::vector<std::uint64_t> expected, got;
  for (std::uint64_t u = 0; u < units; ++u)
    for (std::uint64_t i = 0; i < late_slices::pieces(u); ++i) expected.push_back(100 * u + i);
  auto const attempt = [&](int number, int ranks, int remembers, auto const& memory) {
    got.clear();
    hub::job(ranks).run_well([&](skel::context& ctx) {
      auto& engine = skel::detail::context_access::engine_of(ctx);
      {
        std::lock_guard const lock(engine.mutex());
        engine.job.attempt = number;
        if (ctx.rank() == remembers) engine.job.memory = memory;
      }
      auto const r = skel::multi_host(
                         ctx, units, late_slices{}, [&](auto, auto, auto x) { got.push_back(x); }, how)
                         .report;
      if (number > 1 && ctx.is_root()) CHECK((r.checkpoint && r.checkpoint->restored_tasks == 4));
    });
    CHECK(got == expected);
  };
  auto const memory = std::make_shared<skel::detail::remembered_results>(100'000);
  attempt(1, 12, 2, memory);
  memory->attempt_begins(0);
  memory->root_lost(0, true);
  // The host on rank 0 leads units 0 to 3, and then 8 to 11, while the other group takes every free rank.
  attempt(2, 4, 1, memory);
}
