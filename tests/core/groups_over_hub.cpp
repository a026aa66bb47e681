// Whole multi_host calls over several ranks in one process: the same output, whatever the grouping.
#include <functional>
#include <map>
#include <set>

#include "catch.hpp"
#include "hub_transport.hpp"
#include "slices.hpp"

namespace {

using namespace std::chrono_literals;
using groups::slices;
using groups::written;
using hub::check_thrown;

// What the sink on the root gets, in its order.
std::vector<std::uint64_t> run(hub::job& job, std::uint64_t units, slices const& what,
                               skel::multi_host_options const& how, skel::report* report = nullptr) {
  written out;
  job.run([&](skel::context& ctx) {
    auto r = skel::multi_host(ctx, units, what, std::ref(out), how);
    if (report != nullptr && ctx.is_root()) *report = std::move(r);
  });
  return out.text;
}

skel::multi_host_options size(unsigned n) {
  skel::multi_host_options o;
  o.group_size = n;
  return o;
}

}  // namespace

TEST_CASE("the output is the same for every number of ranks and every grouping") {
  slices const what;
  for (int ranks : {1, 2, 3, 5, 8})
    for (int threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (std::uint64_t units : {0U, 1U, 2U, 9U, 30U})
        for (unsigned n : {0U, 1U, 2U, 3U, 8U}) {
          INFO(ranks << " ranks, " << threads << " threads, " << units << " units, groups of " << n);
          CHECK(run(job, units, what, size(n)) == what.expected(units));
          CHECK(job.error(0).empty());
        }
    }
}

TEST_CASE("it is the same whichever measure is switched off") {
  slices what;
  what.process_time = 20us;
  std::vector<std::pair<char const*, skel::multi_host_options>> all;
  auto const with = [&](char const* name, auto change) {
    auto o = size(3);
    change(o);
    all.emplace_back(name, o);
  };
  with("reassign", [](auto& o) { o.reassign = false; });
  with("split_shares", [](auto& o) { o.split_shares = false; });
  with("reassign_down_to 0", [](auto& o) { o.reassign_down_to = 0; });
  with("the paper's half", [](auto& o) { o.reassign_down_to = 0.5; });
  with("nobody is helped", [](auto& o) { o.reassign_down_to = 1000; });
  with("host_helps", [](auto& o) { o.host_helps = false; });
  with("host_listens", [](auto& o) { o.host_listens = false; });
  with("read_ahead", [](auto& o) { o.read_ahead = 0; });
  with("read_ahead 5", [](auto& o) { o.read_ahead = 5; });
  with("preload", [](auto& o) { o.preload = true; });
  with("least_pieces", [](auto& o) { o.least_pieces = 4; });
  with("shrinking", [](auto& o) { o.shrinking = false; });
  with("early_requests", [](auto& o) { o.early_requests = false; });
  with("threshold", [](auto& o) { o.threshold = 7; });
  with("buffers 1", [](auto& o) { o.buffers = 1; });
  with("buffers 2", [](auto& o) { o.buffers = 2; });
  with("results_level", [](auto& o) { o.results_level = 0; });
  with("a huge results_level", [](auto& o) { o.results_level = 1U << 30; });
  with("power", [](auto& o) { o.power = {1, 2, 3, 1, 2, 3, 1}; });
  with("measured power", [](auto& o) { o.measure_power = true; });
  with("all off", [](auto& o) {
    o.reassign = o.host_helps = o.host_listens = o.shrinking = o.early_requests = false;
    o.read_ahead = 0;
    o.buffers = 1;
    o.results_level = 0;
  });
  hub::job job(7, 1);
  for (auto const& [name, how] : all) {
    INFO(name);
    CHECK(run(job, 20, what, how) == what.expected(20));
    CHECK(job.error(0).empty());
  }
}

TEST_CASE("results may come unit by unit in any order, or stay on the hosts") {
  slices const what;
  hub::job job(6, 2);
  auto how = size(2);
  how.results = skel::unit_results::as_they_come;
  std::map<std::uint64_t, std::vector<std::uint64_t>> by_unit;
  std::vector<std::uint64_t> order;
  auto const text_of = [](auto const& units) {
    std::vector<std::uint64_t> text;
    for (auto const& [unit, part] : units) text.insert(text.end(), part.begin(), part.end());
    return text;
  };
  auto const add = [](auto& to, auto unit, auto piece, auto& result) {
    to[unit].push_back(unit);
    to[unit].push_back(piece);
    to[unit].insert(to[unit].end(), result.begin(), result.end());
  };
  job.run([&](skel::context& ctx) {
    skel::multi_host(
        ctx, 25, what, [&](auto unit, auto piece, auto&& r) { add(by_unit, unit, piece, r); }, how);
  });
  CHECK(text_of(by_unit) == what.expected(25));

  how.results = skel::unit_results::on_hosts;
  how.split_shares = false;  // the hosts of the beginning lead to the end
  std::mutex mutex;
  std::map<std::uint64_t, std::vector<std::uint64_t>> here;
  std::set<int> hosts;
  job.run([&](skel::context& ctx) {
    auto const r = skel::multi_host(
        ctx, 25, what,
        [&](auto unit, auto piece, auto&& result) {
          std::lock_guard const lock(mutex);
          hosts.insert(ctx.rank());
          add(here, unit, piece, result);
        },
        how);
    if (ctx.is_root()) CHECK(r.tasks == 25);
  });
  CHECK(text_of(here) == what.expected(25));
  CHECK(hosts == std::set<int>{0, 2, 4});
}

TEST_CASE("who is through early leads the end of another share; the output is the same") {
  slices what;
  what.process_time = 200us;
  for (auto const where : {skel::unit_results::in_order, skel::unit_results::on_hosts}) {
    hub::job job(3, 1);
    auto how = size(1);
    how.results = where;
    how.power = {4, 1, 1};  // which is not so
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<std::uint64_t>> by_unit;
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto r = skel::multi_host(
          ctx, 60, what,
          [&](auto unit, auto piece, auto&& result) {
            std::lock_guard const lock(mutex);
            auto& to = by_unit[unit];
            to.push_back(unit);
            to.push_back(piece);
            to.insert(to.end(), result.begin(), result.end());
          },
          how);
      if (ctx.is_root()) report = std::move(r);
    });
    std::vector<std::uint64_t> text;
    for (auto const& [unit, part] : by_unit) text.insert(text.end(), part.begin(), part.end());
    CHECK(text == what.expected(60));
    REQUIRE(report.groups);
    CHECK(report.groups->split > 0);
    CHECK(report.groups->sizes == std::vector<int>{1, 1, 1});
    CHECK(report.tasks == 60);
  }
}

TEST_CASE("pieces leave while their unit is being read, and a new host reads as it likes") {
  // Reads row by row, and does not end before the first row has been processed elsewhere.
  struct by_rows : slices {
    std::atomic<int>* first_rows = nullptr;
    std::uint64_t read(std::uint64_t number, carried& c, unit& into, skel::pieces_ready const& ready) const {
      auto const n = slices::read(number, c, into);
      for (std::uint64_t i = 1; i <= n; ++i) ready(i);
      for (int k = 0; number == 1 && n > 1 && *processed == 0 && k < 5000; ++k)
        std::this_thread::sleep_for(1ms);
      return n;
    }
    std::uint64_t read_first(std::uint64_t number, carried& c, unit& into,
                             skel::pieces_ready const& ready) const {
      if (number > 0) ++*first_rows;
      for (auto u = number - std::min<std::uint64_t>(2, number); u < number; ++u) {
        unit unused;
        slices::read(u, c, unused);
      }
      return read(number, c, into, ready);
    }
  };
  std::atomic<int> processed{0}, first{0};
  by_rows what;
  what.processed = &processed;
  what.first_rows = &first;
  hub::job job(4, 1);
  written out;
  auto how = size(2);
  how.split_shares = false;
  job.run([&](skel::context& ctx) { skel::multi_host(ctx, 12, what, std::ref(out), how); });
  CHECK(out.text == what.expected(12));
  CHECK(first == 1);  // of two groups one begins in the middle
}

TEST_CASE("the report says what the groups were and did") {
  slices what;
  what.read_time = 200us;
  what.process_time = 100us;
  std::atomic<int> reads{0};
  what.reads = &reads;
  hub::job job(8, 1);
  skel::report r;
  CHECK(run(job, 40, what, size(2), &r) == what.expected(40));
  CHECK(r.skeleton == "multi_host");
  CHECK(r.schedule == "groups:size=2");
  CHECK(r.tasks == 40);
  REQUIRE(r.groups.has_value());
  auto const& g = *r.groups;
  CHECK(g.sizes == std::vector<int>{2, 2, 2, 2});
  CHECK_FALSE(g.size_found);
  CHECK(g.units_read == 40 + (3 + g.split) * 2);
  CHECK(static_cast<int>(g.units_read) == reads);
  CHECK(g.read_seconds >= 200e-6);
  CHECK(g.compute_seconds > 200e-6);
  CHECK(g.preload_seconds == 0);
  auto how = size(2);
  how.preload = true;
  run(job, 40, what, how, &r);
  CHECK(r.groups->preload_seconds >= 3 * 200e-6);  // history and the first unit
  how.reassign = false;
  run(job, 40, what, how, &r);
  CHECK(r.groups->reassigned == 0);
}

TEST_CASE("the size of groups is found: large ones where reading is quick, small ones where it is slow") {
  slices what;
  what.rows = 12;
  hub::job job(6, 1);
  skel::report r;
  what.read_time = 100us;
  what.process_time = 2ms;
  CHECK(run(job, 24, what, size(0), &r) == what.expected(24));
  REQUIRE(r.groups.has_value());
  CHECK(r.groups->size_found);
  what.read_time = 30ms;
  what.process_time = 100us;
  CHECK(run(job, 12, what, size(0), &r) == what.expected(12));
  CHECK(r.groups->size_found);
  CHECK(r.groups->sizes.size() > 2);  // many readers
}

TEST_CASE("what throws is told on every rank, and the next call works") {
  for (int ranks : {1, 2, 5})
    for (auto const* where : {"read", "process", "cut"})
      for (std::uint64_t at : {0U, 5U, 11U}) {
        slices what;
        what.fails = where;
        what.fails_at = at;
        hub::job job(ranks, 2);
        INFO(ranks << " ranks, " << where << " " << at);
        run(job, 12, what, size(2));
        for (int r = 0; r < ranks; ++r) {
          check_thrown<skel::task_error>(job, r);
          CHECK(job.error(r).find(std::string("no luck in ") + where) != std::string::npos);
          CHECK(job.error(r) == job.error(0));
        }
        CHECK(run(job, 12, slices{}, size(2)) == slices{}.expected(12));
      }
  for (std::uint64_t at : {1U, 6U, 10U}) {
    hub::job job(3, 1);
    job.run([&](skel::context& ctx) {
      skel::multi_host(
          ctx, 12, slices{},
          [&](std::uint64_t unit, std::uint64_t, slices::result&&) {
            if (unit == at) throw std::runtime_error("the disk is full");
          },
          size(1));
    });
    for (int r = 0; r < 3; ++r) {
      check_thrown<skel::sink_error>(job, r);
      CHECK(job.error(r).find("the disk is full") != std::string::npos);
    }
    CHECK(run(job, 12, slices{}, size(2)) == slices{}.expected(12));
  }
}

TEST_CASE("a call ends early when the sink or the caller wants it") {
  slices what;
  what.process_time = 50us;
  hub::job job(4, 1);
  std::atomic<int> stopped{0};
  job.run([&](skel::context& ctx) {
    auto const r = skel::multi_host(
        ctx, 200, what,
        [](std::uint64_t unit, std::uint64_t, slices::result&&) {
          return unit < 3 ? skel::flow::go_on : skel::flow::stop;
        },
        size(2));
    stopped += r.stopped_early ? 1 : 0;
  });
  CHECK(stopped == 4);
  job.run([&](skel::context& ctx) {
    auto how = size(2);
    std::stop_source source;
    how.stop = source.get_token();
    if (ctx.rank() == 3) source.request_stop();
    auto const r = skel::multi_host(
        ctx, 100000, what, [](std::uint64_t, std::uint64_t, slices::result&&) {}, how);
    stopped += r.stopped_early ? 1 : 0;
  });
  CHECK(stopped == 8);
}

TEST_CASE("choices that exclude each other, and calls that differ") {
  hub::job job(2, 1);
  auto const refused = [&](auto change) {
    auto how = size(1);
    change(how);
    run(job, 3, slices{}, how);
    for (int r = 0; r < 2; ++r) check_thrown<skel::usage_error>(job, r);
    return job.error(0);
  };
  CHECK(refused([](auto& o) { o.power = {1}; }) == "multi_host: power has 1 numbers for 2 ranks");
  CHECK(refused([](auto& o) {
          o.power = {1, -1};
        }) == "multi_host: the power of a rank must be a positive number");
  CHECK(refused([](auto& o) {
          o.power = {1, 2};
          o.measure_power = true;
        }) == "multi_host: power is given and to be measured; choose one of them");
  CHECK(refused([](auto& o) {
          o.preload = true;
          o.group_size = 0;
        }).starts_with("multi_host: preload needs a group_size"));
  CHECK(refused([](auto& o) { o.reassign_down_to = -0.5; }) ==
        "multi_host: reassign_down_to must be 0 to 1000000 units, got -0.5");
  CHECK(refused([](auto& o) { o.least_pieces = 0; }) == "multi_host: least_pieces must be at least 1");
  job.run([&](skel::context& ctx) {
    skel::multi_host(
        ctx, ctx.is_root() ? 3 : 4, slices{}, [](std::uint64_t, std::uint64_t, slices::result&&) {}, size(1));
  });
  for (int r = 0; r < 2; ++r) {
    check_thrown<skel::protocol_error>(job, r);
    CHECK(job.error(r).find("rank 1 made another skeleton call than the root") != std::string::npos);
  }
  CHECK(run(job, 9, slices{}, size(1)) == slices{}.expected(9));
}

TEST_CASE("slaves and hosts are lost, and the output is the same") {
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
        auto const text = run(job, 24, what, size(n), &r);
        killer.join();
        CHECK(text == what.expected(24));
        CHECK(job.error(0).empty());
        for (int const lost : r.lost_ranks) CHECK(std::count(victims.begin(), victims.end(), lost) == 1);
      }
}

TEST_CASE("false suspicions do no harm to groups") {
  slices what;
  what.read_time = 100us;
  what.process_time = 100us;
  for (unsigned n : {1U, 2U, 4U}) {
    hub::job job(4, 1);
    std::atomic<int> processed{0};
    what.processed = &processed;
    int total = 0;
    for (std::uint64_t u = 0; u < 40; ++u) total += static_cast<int>(what.pieces(u));
    // Not to the end: who is suspected then hears of it when the root's detector has heard from it, and here
    // is none.
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

TEST_CASE("the loss of the root ends the others") {
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
