// Compares the stage between root and sink with a simple model: batches in any order, with rejected tasks
// in between.
#include "tasks/sink_stage.hpp"

#include <random>

#include "catch.hpp"
#include "protocol/task_set.hpp"
#include "skel/farm.hpp"

namespace {

using skel::range_list;
using skel::task_id;

// A farm whose result i is i * 7, with the given sink.
template <class Sink>
struct work_with {
  using source = decltype(skel::indices(0));
  static std::uint64_t times_seven(std::uint64_t i) { return i * 7; }
  source tasks;
  std::uint64_t (*f)(std::uint64_t) = times_seven;
  Sink sink;
  skel::detail::farm_work_of<source, std::uint64_t (*)(std::uint64_t), Sink> work;
  work_with(std::uint64_t n, Sink s) : tasks(skel::indices(n)), sink(std::move(s)), work(tasks, f, sink) {}
};

skel::detail::result_batch batch_of(skel::detail::farm_work& work, range_list ranges, bool local) {
  skel::detail::result_batch b;
  b.ranges = std::move(ranges);
  if (local) b.local = work.make_local();
  for (auto const& r : b.ranges) {
    std::uint64_t at = 0;
    if (local)
      work.run_local(r, at, r.count, {}, {}, *b.local);
    else
      work.run_packed(r, at, r.count, {}, {}, b.packed.body());
  }
  return b;
}

skel::detail::sink_stage::progress drained(skel::detail::sink_stage& stage) {
  auto entries = stage.take();
  return stage.drain(entries);
}

}  // namespace

TEST_CASE("an ordered stage gives every accepted result once and in order, despite rejected ones") {
  std::mt19937_64 dice(9);
  for (int turn = 0; turn < 500; ++turn) {
    std::uint64_t const n = 1 + dice() % 60;
    std::vector<task_id> ids;
    bool right = true;
    auto take = [&](task_id id, std::uint64_t value) {
      ids.push_back(id);
      right = right && value == id * 7;
    };
    bool const ordered = turn % 2 == 0;
    auto const go = [&](auto sink) {
      work_with with(n, std::move(sink));
      skel::detail::sink_stage stage(with.work, ordered, false);
      skel::task_set recorded;
      skel::detail::sink_stage::progress last;
      while (recorded.count() < n) {
        range_list ranges;
        for (std::uint64_t k = 1 + dice() % 3; k > 0; --k) {
          skel::task_range r{dice() % n, 1 + dice() % 8, 1 + dice() % 3};
          r.count = std::min(r.count, (n - 1 - r.first) / r.stride + 1);
          skel::append(ranges, r);
        }
        range_list accepted;
        for (auto const& r : ranges)
          for (auto const& fresh : recorded.insert(r)) skel::append(accepted, fresh);
        if (!accepted.empty()) stage.push(batch_of(with.work, ranges, dice() % 2 == 0), accepted);
        if (dice() % 3 == 0) {
          last = drained(stage);
          REQUIRE(last.sunk == ids.size());
          if (ordered) REQUIRE(last.next == ids.size());
        }
      }
      last = drained(stage);
      REQUIRE(last.sunk == n);
    };
    if (ordered)
      go(skel::ordered(take));
    else
      go(take);
    REQUIRE(right);
    if (ordered) REQUIRE(std::is_sorted(ids.begin(), ids.end()));
    std::sort(ids.begin(), ids.end());
    REQUIRE(std::unique(ids.begin(), ids.end()) == ids.end());
    REQUIRE(ids.size() == n);
  }
}

TEST_CASE("a sink that threw or requested a stop is not called again") {
  for (bool throws : {false, true}) {
    int calls = 0;
    work_with with(20, [&](task_id id, std::uint64_t) {
      ++calls;
      if (id != 3) return skel::results::flow::go_on;
      if (throws) throw std::runtime_error("full");
      return skel::results::flow::stop;
    });
    skel::detail::sink_stage stage(with.work, false, false);
    for (task_id first : {0U, 10U}) {
      stage.push(batch_of(with.work, {{first, 10, 1}}, false), {{first, 10, 1}});
      auto const p = drained(stage);
      CHECK(p.error.has_value() == throws);
      CHECK(p.stop == !throws);
      if (throws) CHECK(p.error->first == 3);
    }
    CHECK(calls == 4);
  }
}

TEST_CASE("what was accepted before the sink ended is recorded") {
  work_with with(20, [&](task_id, std::uint64_t) { return skel::results::flow::stop; });
  skel::detail::sink_stage stage(with.work, false, false);
  skel::task_set recorded;
  stage.record_to([&](range_list const& ranges, std::span<std::byte const>) {
    for (auto const& r : ranges) recorded.insert(r);
  });
  for (task_id first : {0U, 10U}) stage.push(batch_of(with.work, {{first, 10, 1}}, false), {{first, 10, 1}});
  CHECK(drained(stage).sunk == 1);
  CHECK(recorded.count() == 20);
}
