// Sinks: any order, task order, merged, into a vector.
#include <algorithm>
#include <atomic>

#include "suite.hpp"

namespace suite::sinks {

using namespace std::chrono_literals;

namespace {

skel::results_policy const ways[] = {skel::results::streamed(), skel::results::streamed(3),
                                     skel::results::concentrated()};

bool merges(skel::any_schedule const& how) {  // copies of a ring cannot be merged
  return !how.policy().copies || how.policy().more != skel::schedule::more_from::ring;
}

auto const same = [](std::uint64_t i) { return i; };

}  // namespace

TEST_CASE("an ordered sink receives the results in task order", "[farm][sinks]") {
  for (auto const* name : schedules) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      for (auto const& results : ways) {
        std::uint64_t next = 0;
        bool in_order = true;
        skel::farm(ctx, skel::indices(2000), [](std::uint64_t i) { return std::string(i % 7, 'x'); },
                   skel::any_schedule(name), skel::ordered([&](skel::task_id id, std::string&& text) {
                     in_order = in_order && id == next++ && text.size() == id % 7;
                   }),
                   {.results = results});
        CHECK(in_order);
        CHECK(next == (ctx.is_root() ? 2000 : 0));
      }
    });
  }
}

TEST_CASE("a reduced sink merges every result once", "[farm][sinks]") {
  auto const part = [](std::uint64_t i) { return mix(i) >> 32; };
  std::uint64_t expected = 5;
  for (std::uint64_t i = 0; i < 10001; ++i) expected += part(i);
  for (auto const* name : schedules) {
    skel::any_schedule const how(name);
    if (!merges(how)) continue;
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      for (auto const& results : ways) {
        std::uint64_t total = 5;  // the initial value counts once, on the root
        auto const r =
            skel::farm(ctx, skel::indices(10001), part, how, skel::reduced(total, add), {.results = results})
                .report;
        CHECK(total == (ctx.is_root() ? expected : 5));
        if (ctx.is_root()) CHECK(r.tasks == 10001);
      }
    });
  }
}

// The window bounds how far tasks run ahead of the first missing result.
TEST_CASE("an ordered window keeps the order", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    std::uint64_t next = 0;
    skel::farm(
        ctx, skel::indices(500),
        [](std::uint64_t i) {
          if (i % 50 == 0) spend(5ms);
          return i;
        },
        skel::schedule::first_come{.chunk = 3},
        skel::ordered(
            [&](skel::task_id id, std::uint64_t) {
              CHECK(id == next);
              ++next;
            },
            20));
    if (ctx.is_root()) CHECK(next == 500);
  });
}

TEST_CASE("tasks that return nothing are reported to the sink, once each", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    std::atomic<int> ran = 0;
    std::vector<int> sunk(30);
    skel::farm(
        ctx, skel::indices(30), [&](std::uint64_t) { ++ran; }, skel::schedule::guided{},
        [&](skel::task_id id) { ++sunk.at(id); });
    CHECK(sunk == std::vector<int>(30, ctx.is_root() ? 1 : 0));
  });
}

TEST_CASE("a task learns where it runs", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    skel::per_thread<std::vector<int>> const scratch(ctx);
    std::vector<int> ranks;
    skel::farm(
        ctx, skel::indices(64),
        [&](std::uint64_t i, skel::worker_info const& where) {
          CHECK(where.rank == ctx.rank());
          CHECK(where.thread < where.threads);
          scratch[where].assign(3, static_cast<int>(i));
          return where.rank;
        },
        skel::schedule::interleaved{}, skel::into(ranks));
    for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(ranks[i] == static_cast<int>(i) % ctx.size());
    CHECK(ranks.size() == (ctx.is_root() ? 64 : 0));
  });
}

namespace {

// A function object is not copied, so it keeps what it has collected, also inside ordered().
struct collector {
  std::vector<std::uint64_t> got;
  void operator()(skel::task_id, std::uint64_t x) { got.push_back(x); }
};
std::atomic<std::uint64_t> summed = 0;
void add_up(skel::task_id, std::uint64_t x) { summed += x; }

}  // namespace

TEST_CASE("a sink keeps what it collects, and may be a function", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    collector any, in_order;
    skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, any);
    skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, skel::ordered(in_order));
    if (ctx.is_root()) summed = 0;
    skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, add_up);
    if (ctx.is_root()) CHECK(summed == 1225);
    auto const nobody = [](skel::task_id, std::uint64_t) {};
    skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, nobody);
    CHECK(any.got.size() == (ctx.is_root() ? 50 : 0));
    CHECK(in_order.got.size() == any.got.size());
    CHECK(std::is_sorted(in_order.got.begin(), in_order.got.end()));
  });
}

TEST_CASE("into() has as many places as tasks, whatever the vector held", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::uint64_t> got(7, 77);
    skel::farm(ctx, skel::indices(5), same, skel::schedule::guided{}, skel::into(got));
    if (ctx.is_root()) CHECK(got == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
    auto const fills = [&](auto results, auto const& task, auto const& wrap, skel::farm_options const& o) {
      results.resize(7);
      skel::farm(ctx, skel::indices(5), task, skel::schedule::guided{}, wrap(results), o);
      if (ctx.is_root()) CHECK(results.size() == 5);
      skel::farm(ctx, skel::indices(0), task, skel::schedule::guided{}, wrap(results), o);
      if (ctx.is_root()) CHECK(results.empty());
    };
    auto const plain = [](auto& results) { return skel::into(results); };
    auto const half = [](std::uint64_t i) { return static_cast<float>(i) / 2; };
    fills(std::vector<double>(), half, plain, {});
    fills(std::vector<bool>(), [](std::uint64_t i) { return i > 2; }, plain, {});
    fills(std::vector<skel::outcome<float>>(), half, plain, {.on_error = skel::on_error::collect{}});
    fills(std::vector<float>(), half, [](auto& results) { return skel::ordered(skel::into(results)); }, {});
    fills(std::vector<float>(), half, plain, {.audit = ctx.size() > 1 ? 1.0 : 0.0});
    fills(std::vector<float>(), [](skel::context&, std::uint64_t i) { return static_cast<float>(i); }, plain,
          {});
  });
}

TEST_CASE("bool and vector<bool> travel", "[farm][sinks]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::vector<bool>> bits;
    skel::farm(
        ctx, skel::indices(10), [](std::uint64_t i) { return std::vector<bool>(i, true); },
        skel::schedule::blocks{}, skel::into(bits));
    if (ctx.is_root()) CHECK(bits.at(9) == std::vector<bool>(9, true));
    std::vector<bool> flags;
    skel::farm(
        ctx, skel::indices(10), [](std::uint64_t i) { return i % 2 == 0; }, skel::schedule::blocks{},
        [&](skel::task_id, bool even) { flags.push_back(even); });
    CHECK(flags.size() == (ctx.is_root() ? 10 : 0));
  });
}

}  // namespace suite::sinks
