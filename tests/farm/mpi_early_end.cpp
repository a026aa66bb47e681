// Runs that end before their last task: by the sink, by a request, or by the time limit.
#include <atomic>
#include <chrono>
#include <limits>
#include <ranges>
#include <stop_token>
#include <thread>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;
using namespace std::chrono_literals;

constexpr std::uint64_t many = 1'000'000;  // too many to finish within a test

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void the_sink_has_enough(skel::context& ctx, skel::any_schedule const& how) {
  int after = 0;
  int sunk = 0;
  auto const r = skel::farm(
                     ctx, skel::indices(many), [](std::uint64_t i) { return i; }, how,
                     [&](skel::task_id, std::uint64_t) {
                       if (sunk == 1000) ++after;
                       return ++sunk >= 1000 ? skel::flow::stop : skel::flow::go_on;
                     })
                     .report;
  check(r.stopped_early, how.to_string() + ": stopped early, on every rank");
  if (!ctx.is_root()) return;
  check_equal(sunk, 1000, how.to_string() + ": results before the sink had enough");
  check_equal(after, 0, how.to_string() + ": results after that");
  check_equal(r.tasks, 1000U, how.to_string() + ": tasks of the report");
}

void an_ordered_sink_has_enough(skel::context& ctx) {
  std::uint64_t last = 0;
  auto const r = skel::farm(
                     ctx, skel::indices(many), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
                     skel::ordered(
                         [&](skel::task_id id, std::uint64_t) {
                           last = id;
                           return id == 500 ? skel::flow::stop : skel::flow::go_on;
                         },
                         1000))
                     .report;
  check(r.stopped_early, "stopped early");
  if (ctx.is_root()) check_equal(last, 500U, "the last result in order");
}

// A rank other than the root asks, through a token of its own.
void a_rank_asks(skel::context& ctx, int who) {
  std::stop_source asking;
  std::jthread const later([&, here = ctx.rank() == who] {
    if (!here) return;
    std::this_thread::sleep_for(100ms);
    asking.request_stop();
  });
  auto const r =
      skel::farm(
          ctx, skel::indices(many),
          [](std::uint64_t i) {
            std::this_thread::sleep_for(1ms);
            return i;
          },
          skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {}, {.stop = asking.get_token()})
          .report;
  check(r.stopped_early, "rank " + std::to_string(who) + " asked for a stop");
}

void asked_before_the_start(skel::context& ctx) {
  std::stop_source asking;
  asking.request_stop();
  auto const r = skel::farm(
                     ctx, skel::indices(many), [](std::uint64_t i) { return i; }, skel::schedule::blocks{},
                     [](skel::task_id, std::uint64_t) {}, {.stop = asking.get_token()})
                     .report;
  check(r.stopped_early, "asked before the start");
}

void time_is_over(skel::context& ctx, skel::any_schedule const& how) {
  auto const start = std::chrono::steady_clock::now();
  auto const r = skel::farm(
                     ctx, skel::indices(many),
                     [](std::uint64_t i) {
                       std::this_thread::sleep_for(200us);
                       return i;
                     },
                     how, [](skel::task_id, std::uint64_t) {}, {.time_limit_seconds = 0.3})
                     .report;
  check(r.stopped_early, "time limit");
  auto const took = seconds_since(start);
  check(took >= 0.2, "a limit of 0.3 s took " + std::to_string(took) + " s");
}

void a_stream_without_end(skel::context& ctx) {
  int sunk = 0;
  auto const r =
      skel::farm(
          ctx, skel::on_root([] { return std::views::iota(std::uint64_t{0}); }),
          [](std::uint64_t i) { return i; }, skel::schedule::guided{},
          [&](skel::task_id, std::uint64_t) { return ++sunk < 5000 ? skel::flow::go_on : skel::flow::stop; })
          .report;
  check(r.stopped_early, "an endless stream");
}

void afterwards_all_is_well(skel::context& ctx) {
  std::uint64_t total = 0;
  auto const r = skel::farm(
                     ctx, skel::indices(1000), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
                     skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }))
                     .report;
  check(!r.stopped_early, "the next run is whole");
  if (ctx.is_root()) check_equal(total, 499500U, "the next run's result");
}

// The context's own stop remains: it asks for the end of the program.
void the_context_is_stopped(skel::context& ctx) {
  if (ctx.rank() == ctx.size() - 1) ctx.request_stop();
  for (int i = 0; i < 2; ++i) {
    auto const r = skel::farm(
                       ctx, skel::indices(many),
                       [](std::uint64_t k) {
                         std::this_thread::sleep_for(1ms);
                         return k;
                       },
                       skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {})
                       .report;
    check(r.stopped_early, "a stopped context ends every run");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    for (auto const* how : {"blocks", "interleaved", "first-come", "guided", "hybrid"})
      the_sink_has_enough(ctx, skel::any_schedule(how));
    an_ordered_sink_has_enough(ctx);
    for (int r = 0; r < ctx.size(); ++r) a_rank_asks(ctx, r);
    asked_before_the_start(ctx);
    for (auto const* how : {"interleaved", "guided"}) time_is_over(ctx, skel::any_schedule(how));
    a_stream_without_end(ctx);
    afterwards_all_is_well(ctx);
    the_context_is_stopped(ctx);
  });
}
