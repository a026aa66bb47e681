// Whole farms over several ranks in one process: every schedule, source and sink, results compared by bytes.
#include "over_hub.hpp"

#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

using namespace farm_test;

namespace {

// Remembers the address at which it was constructed.
struct settler {
  std::uint64_t value;
  std::uintptr_t home;
  std::array<std::uint64_t, 6> more{};  // too large to be returned in registers
  explicit settler(std::uint64_t v = 0) : value(v), home(reinterpret_cast<std::uintptr_t>(this)) {}
};
static_assert(std::is_trivially_copyable_v<settler>);

}  // namespace

TEST_CASE("results of the root's own tasks are written once, in their final place") {
  for (int ranks : {1, 3})
    for (unsigned threads : {1U, 3U}) {
      INFO(ranks << " ranks, " << threads << " threads");
      std::vector<settler> got(500);  // results of an earlier run, more than there are tasks now
      hub::job job(ranks, threads);
      job.run_well([&](skel::context& ctx) {
        skel::farm(
            ctx, skel::indices(400), [](std::uint64_t i) { return settler(work(i)); },
            skel::schedule::guided{}, skel::into(got));
      });
      REQUIRE(got.size() == 400);
      std::size_t at_home = 0;
      for (std::size_t i = 0; i < 400; ++i) {
        CHECK(got[i].value == work(i));
        at_home += got[i].home == reinterpret_cast<std::uintptr_t>(&got[i]) ? 1 : 0;
      }
      if (ranks == 1) CHECK(at_home == 400);
    }
}

TEST_CASE("results that own memory are written in their final place, too") {
  auto const text = [](std::uint64_t i) {
    if (i == 30) throw std::runtime_error("no text");
    return std::string(i % 50 + 1, static_cast<char>('a' + i % 26));
  };
  std::vector<std::string> got;
  hub::job job(1, 2);
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(30), text, skel::schedule::first_come{}, skel::into(got));
    REQUIRE(got.size() == 30);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == text(i));
    skel::farm(ctx, skel::indices(40), text, skel::schedule::first_come{}, skel::into(got));
  });
  CHECK(job.error(0).find("no text") != std::string::npos);
}

namespace {

// Fails this many times, as if there were no memory.
struct reluctant {
  static inline std::atomic<int> refusals{0};
  std::uint64_t value = 0;
  reluctant() {
    if (refusals-- > 0) throw std::bad_alloc();
  }
  explicit reluctant(std::uint64_t v) : value(v) {}
};

}  // namespace

TEST_CASE("without memory for all places the sink makes them one by one, or ends the run") {
  for (int refusals : {1, 1000000})
    for (int ranks : {1, 2}) {
      INFO(refusals << " refusals, " << ranks << " ranks");
      std::vector<reluctant> got;
      reluctant::refusals = refusals;
      hub::job job(ranks, 1);
      job.run([&](skel::context& ctx) {
        skel::farm(
            ctx, skel::indices(50), [](std::uint64_t i) { return reluctant(work(i)); },
            skel::schedule::first_come{}, skel::into(got));
      });
      for (int r = 0; r < ranks; ++r) CHECK(job.error(r).empty() == (refusals == 1));
      if (refusals > 1) continue;
      REQUIRE(got.size() == 50);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i].value == work(i));
    }
}

TEST_CASE("consecutive farms, with ranks that begin late") {
  hub::job job(3, 2);
  std::vector<std::uint64_t> first, second;
  job.run_well([&](skel::context& ctx) {
    if (ctx.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    skel::farm(ctx, skel::indices(100), work, skel::schedule::guided{}, skel::into(first));
    if (ctx.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    skel::farm(ctx, skel::indices(50), work, skel::schedule::blocks{}, skel::into(second));
  });
  CHECK(first == expected(100));
  CHECK(second == expected(50));
}

TEST_CASE("a window in bytes bounds the large results that wait, and the large tasks that are pulled") {
  constexpr std::size_t bytes = 100'000;
  constexpr std::uint64_t n = 300, window = 10;
  for (char const* const how : {"auto", "first-come", "guided"}) {
    hub::job job(4, 1);
    std::atomic<bool> first_done = false;
    std::atomic<std::uint64_t> farthest = 0, sunk = 0, most_open = 0;
    auto const slow_first = [&](std::uint64_t i) {
      if (i == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        first_done = true;
      } else if (!first_done) {
        farthest = std::max(farthest.load(), i);
      }
      return std::string(bytes, 'x');
    };
    skel::farm_options const options{.results = {.window_bytes = window * bytes}};
    INFO(how);
    job.run_well([&](skel::context& ctx) {
      skel::farm(ctx, skel::indices(n), slow_first, skel::any_schedule(how),
                 skel::ordered([&](skel::task_id, std::string const&) { ++sunk; }), options);
    });
    CHECK(sunk.exchange(0) == n);
    CHECK(farthest <= window + 1);  // a message has some bytes more than its results
    job.run([&](skel::context& ctx) {
      auto const open = [&] {
        return std::views::iota(std::uint64_t{0}, n) | std::views::transform([&](std::uint64_t i) {
                 most_open = std::max(most_open.load(), i - sunk);
                 return std::string(bytes, 'x');
               });
      };
      skel::farm(
          ctx, skel::on_root(open), [](std::string const& s) { return s.size(); }, skel::any_schedule(how),
          [&](skel::task_id, std::size_t) { ++sunk; }, options);
    });
    CHECK(sunk == n);
    CHECK(most_open <= 3 * window);
  }
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
          skel::schedule::first_come{.chunk = 4}, sink);
    };
    job.run_well([&](skel::context& ctx) {
      if (ordered)
        body(ctx, skel::ordered(take));
      else
        body(ctx, take);
    });
    REQUIRE(got.size() == 60);
    for (int i = 0; i < 60; ++i)
      CHECK(got[static_cast<std::size_t>(i)] == std::vector<int>(i * 100U, i * 100));
  }
}

TEST_CASE("a quantum that ends early because its results are large keeps the payloads of the rest") {
  hub::job job(2, 1);
  std::uint64_t bytes = 0;
  skel::farm_options options;
  options.root_works = false;
  job.run([&](skel::context& ctx) {
    // Small results first, so that a quantum holds many tasks; then large ones.
    auto const f = [](std::uint64_t i) { return std::vector<char>(i < 3000 ? 1 : 50000); };
    skel::farm(
        ctx, counting(3300), f, skel::schedule::guided{},
        [&](skel::task_id, std::vector<char>&& v) { bytes += v.size(); }, options);
  });
  CHECK(job.error(0).empty());
  CHECK(bytes == 3000 + 300 * 50000);
}

TEST_CASE("an observer sees the run on the root from its start to its end, at most once per second") {
  hub::job job(2, 1);
  std::vector<std::pair<std::string, skel::observe::progress_state>> seen;
  double seconds = 0;
  job.run([&](skel::context& ctx) {
    ctx.set_observer([&](std::string const& label, auto const& state) { seen.emplace_back(label, state); });
    auto const slow = [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    skel::farm_options options;
    options.label = "slow";
    auto const run = skel::farm(
        ctx, skel::indices(120), slow, skel::schedule::guided{}, [](skel::task_id) {}, options);
    if (ctx.is_root()) seconds = run.report.seconds;
    ctx.set_observer({});
    skel::farm(ctx, skel::indices(2), slow, skel::schedule::guided{}, [](skel::task_id) {});
  });
  REQUIRE(seen.size() >= 3);
  CHECK(static_cast<double>(seen.size()) <= seconds + 2);
  for (auto const& [label, state] : seen) {
    CHECK(label == "slow");
    CHECK(state.total == 120);
    CHECK(state.ranks == 2);
  }
  CHECK(seen.front().second.done < 60);
  CHECK(seen.back().second.done == 120);
}
