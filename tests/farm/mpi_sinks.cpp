// Sinks: any order, task order, merged, into a vector.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

constexpr char const* schedules[] = {"blocks", "interleaved", "first-come:chunk=2",
                                     "guided", "hybrid",      "auto"};

void task_order(skel::context& ctx, skel::any_schedule const& how, skel::results_policy results) {
  std::uint64_t next = 0;
  bool in_order = true;
  skel::farm(ctx, skel::indices(2000), [](std::uint64_t i) { return std::string(i % 7, 'x'); }, how,
             skel::ordered([&](skel::task_id id, std::string&& text) {
               in_order = in_order && id == next++ && text.size() == id % 7;
             }),
             {.results = results});
  if (!ctx.is_root()) return;
  check(in_order, how.to_string() + ": results in task order");
  check_equal(next, 2000U, how.to_string() + ": results of an ordered sink");
}

// The window bounds how far tasks run ahead of the first missing result. While the slow task 0 runs, no task
// beyond the window may start.
void an_ordered_window(skel::context& ctx) {
  constexpr std::uint64_t window = 20;
  std::uint64_t next = 0;
  std::uint64_t farthest = 0;
  skel::farm(
      ctx, skel::indices(500),
      [](std::uint64_t i) {
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return i;
      },
      skel::schedule::first_come{.chunk = 3},
      skel::ordered(
          [&](skel::task_id id, std::uint64_t) {
            check_equal(id, next, "ordered window");
            ++next;
            farthest = std::max(farthest, id);
          },
          window));
  if (ctx.is_root()) check_equal(next, 500U, "results through an ordered window");
}

void merged(skel::context& ctx, skel::any_schedule const& how, skel::results_policy results) {
  std::uint64_t total = 5;  // the initial value counts once, on the root
  auto const r = skel::farm(ctx, skel::indices(10001), [](std::uint64_t i) { return test::mix(i) >> 32; },
                            how, skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }),
                            {.results = results})
                     .report;
  if (!ctx.is_root()) {
    check_equal(total, 5U, "the total stays unchanged on other ranks");
    return;
  }
  std::uint64_t expected = 5;
  for (std::uint64_t i = 0; i < 10001; ++i) expected += test::mix(i) >> 32;
  check_equal(total, expected, how.to_string() + ": merged total");
  check_equal(r.tasks, 10001U, how.to_string() + ": tasks of a merged farm");
}

void tasks_without_result(skel::context& ctx) {
  std::atomic<int> ran = 0;
  int sunk = 0;
  skel::farm(
      ctx, skel::indices(30), [&](std::uint64_t) { ++ran; }, skel::schedule::guided{},
      [&](skel::task_id) { ++sunk; });
  if (ctx.is_root()) check_equal(sunk, 30, "tasks that return nothing are reported to the sink");
}

void where_a_task_runs(skel::context& ctx) {
  skel::per_thread<std::vector<int>> const scratch(ctx);
  std::vector<int> ranks;
  skel::farm(
      ctx, skel::indices(64),
      [&](std::uint64_t i, skel::worker_info const& where) {
        check(where.rank == ctx.rank() && where.thread < where.threads, "worker_info");
        scratch[where].assign(3, static_cast<int>(i));
        return where.rank;
      },
      skel::schedule::interleaved{}, skel::into(ranks));
  if (!ctx.is_root()) return;
  for (std::size_t i = 0; i < 64; ++i)
    check_equal(ranks[i], static_cast<int>(i) % ctx.size(), "interleaved: task i runs on rank i mod N");
}

// A function object is not copied, so it keeps what it has collected, also inside ordered().
struct collector {
  std::vector<std::uint64_t> got;
  void operator()(skel::task_id, std::uint64_t x) { got.push_back(x); }
};
std::uint64_t summed = 0;
void add(skel::task_id, std::uint64_t x) { summed += x; }

void sinks_that_collect(skel::context& ctx) {
  collector any, in_order;
  auto const same = [](std::uint64_t i) { return i; };
  skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, any);
  skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, skel::ordered(in_order));
  summed = 0;
  skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, add);
  auto const nobody = [](skel::task_id, std::uint64_t) {};
  skel::farm(ctx, skel::indices(50), same, skel::schedule::guided{}, nobody);
  std::size_t const all = ctx.is_root() ? 50 : 0;
  check_equal(any.got.size(), all, "a sink holds the collected results");
  check_equal(in_order.got.size(), all, "an ordered sink holds the collected results");
  check_equal(summed, ctx.is_root() ? 1225U : 0U, "a plain function is a sink");
  check(std::is_sorted(in_order.got.begin(), in_order.got.end()), "in order");
}

void places_of_an_earlier_run(skel::context& ctx) {
  std::vector<int> got(7, -1);
  skel::farm(
      ctx, skel::indices(5), [](std::uint64_t i) { return static_cast<int>(i); }, skel::schedule::guided{},
      skel::into(got));
  if (ctx.is_root()) check(got == std::vector{0, 1, 2, 3, 4}, "as many places as tasks");
}

void an_initializer_list(skel::context& ctx) {
  auto const source = skel::replicated(std::initializer_list<int>{5, 6, 7});  // its elements die here
  std::vector<int> got;
  skel::farm(
      ctx, source, [](int i) { return i; }, skel::schedule::guided{}, skel::into(got));
  if (ctx.is_root()) check(got == std::vector{5, 6, 7}, "a list keeps the elements of an initializer_list");
}

void results_that_are_only_moved(skel::context& ctx) {
  std::vector<std::vector<bool>> bits;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t i) { return std::vector<bool>(i, true); },
      skel::schedule::blocks{}, skel::into(bits));
  if (ctx.is_root()) check(bits.at(9) == std::vector<bool>(9, true), "vector<bool> travels");
  std::vector<bool> flags;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t i) { return i % 2 == 0; }, skel::schedule::blocks{},
      [&](skel::task_id, bool even) { flags.push_back(even); });
  if (ctx.is_root()) check_equal(flags.size(), 10U, "bool travels");
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    for (auto const* name : schedules)
      for (auto const results :
           {skel::results::streamed(), skel::results::streamed(3), skel::results::concentrated()}) {
        task_order(ctx, skel::any_schedule(name), results);
        merged(ctx, skel::any_schedule(name), results);
      }
    an_ordered_window(ctx);
    tasks_without_result(ctx);
    where_a_task_runs(ctx);
    sinks_that_collect(ctx);
    places_of_an_earlier_run(ctx);
    an_initializer_list(ctx);
    results_that_are_only_moved(ctx);
  });
}
