// Exceptions of the user's code: every rank throws the same error, and the context remains usable.
#include <new>
#include <ranges>
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;
using test::contains;
using test::thrown_by;

constexpr std::uint64_t tasks = 300;

void usable(skel::context& ctx) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(100), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
  if (ctx.is_root()) check_equal(total, 4950U, "the run after a failed one");
}

auto const ignore = [](skel::task_id, std::uint64_t) {};

void one_task_throws(skel::context& ctx, skel::any_schedule const& how, skel::results_policy results,
                     std::uint64_t which) {
  auto const where = how.to_string() + ", task " + std::to_string(which);
  auto const e = thrown_by<skel::task_error>(
      [&] {
        skel::farm(ctx, skel::indices(tasks),
                   [&](std::uint64_t i) {
                     if (i == which) throw std::runtime_error("bad task " + std::to_string(i));
                     return i;
                   },
                   how, ignore, {.results = results});
      },
      where);
  check_equal(e.task(), which, where + ": task");
  check_equal(e.text(), "bad task " + std::to_string(which), where + ": text");
  check_equal(e.more(), 0U, where + ": more");
  check(e.rank() >= 0 && e.rank() < ctx.size(), where + ": rank");
  check_equal(
      e.what(),
      "task " + std::to_string(which) + " failed on rank " + std::to_string(e.rank()) + ": " + e.text(),
      where);
  usable(ctx);
}

// With interleaved the rank of each task is known: tests a task of the root and of each other rank.
void the_rank_is_named(skel::context& ctx) {
  for (int r = 0; r < ctx.size(); ++r) {
    auto const e = thrown_by<skel::task_error>(
        [&] {
          skel::farm(
              ctx, skel::indices(tasks),
              [&](std::uint64_t i) {
                if (i == static_cast<std::uint64_t>(r)) throw std::logic_error("mine");
                return i;
              },
              skel::schedule::interleaved{}, ignore);
        },
        "interleaved");
    check_equal(e.rank(), r, "rank of the task that failed");
  }
  usable(ctx);
}

void missing_memory_is_named(skel::context& ctx) {
  auto const e = thrown_by<skel::task_error>(
      [&] {
        skel::farm(
            ctx, skel::indices(tasks), [](std::uint64_t) -> std::uint64_t { throw std::bad_alloc(); },
            skel::schedule::interleaved{}, ignore);
      },
      "no memory");
  check_equal(e.text(), "out of memory", "no memory: text");
  usable(ctx);
}

void several_tasks_throw(skel::context& ctx) {
  auto const e = thrown_by<skel::task_error>(
      [&] {
        skel::farm(
            ctx, skel::indices(tasks),
            [](std::uint64_t i) -> std::uint64_t { throw std::runtime_error("all " + std::to_string(i)); },
            skel::schedule::interleaved{}, ignore);
      },
      "all tasks throw");
  check_equal(e.text(), "all " + std::to_string(e.task()), "text belongs to the task");
  // Each compute thread stops at its first failure; no rank starts a task after it has heard of one.
  check(e.more() < static_cast<std::uint64_t>(ctx.size() * ctx.threads()), "how many more failed");
  if (e.more() > 0) check(contains(e.what(), " (and " + std::to_string(e.more()) + " more)"), "more is said");
  usable(ctx);
}

void what_is_thrown_may_be_anything(skel::context& ctx) {
  auto const e = thrown_by<skel::task_error>(
      [&] {
        skel::farm(
            ctx, skel::indices(tasks),
            [](std::uint64_t i) {
              if (i == 17) throw 42;
              return i;
            },
            skel::schedule::guided{}, ignore);
      },
      "a task throws an int");
  check_equal(e.text(), "an exception that is no std::exception", "text of an int");
  usable(ctx);
}

template <class Sink>
void a_sink_throws(skel::context& ctx, Sink sink, std::string const& text, std::string const& where) {
  for (auto const results : {skel::results::streamed(), skel::results::concentrated()}) {
    auto const e = thrown_by<skel::sink_error>(
        [&] {
          skel::farm(ctx, skel::indices(tasks), [](std::uint64_t i) { return i; },
                     skel::schedule::interleaved{}, sink, {.results = results});
        },
        where);
    check_equal(e.task(), 100U, where + ": task");
    check_equal(e.text(), text, where + ": text");
    usable(ctx);
  }
}

void sinks_throw(skel::context& ctx) {
  auto const throws = [](skel::task_id id, std::uint64_t) {
    if (id == 100) throw std::runtime_error("disk full");
  };
  auto const throws_int = [](skel::task_id id, std::uint64_t) {
    if (id == 100) throw 1;
  };
  a_sink_throws(ctx, throws, "disk full", "sink");
  a_sink_throws(ctx, skel::ordered(throws), "disk full", "ordered sink");
  a_sink_throws(ctx, throws_int, "an exception that is no std::exception", "sink throws an int");
}

void a_merge_throws(skel::context& ctx) {
  std::uint64_t total = 0;
  bool failed = false;
  try {
    skel::farm(
        ctx, skel::indices(tasks), [](std::uint64_t i) { return i; }, skel::schedule::interleaved{},
        skel::reduced(total, [](std::uint64_t, std::uint64_t) -> std::uint64_t {
          throw std::runtime_error("cannot merge");
        }));
  } catch (skel::error const& e) {
    // A task's error if a rank merges its own results, the sink's error if the root merges.
    failed = true;
    check(contains(e.what(), "cannot merge"), e.what());
  }
  check(failed, "every rank throws if a merge throws");
  usable(ctx);
}

template <class Thrown>
void a_source_throws(skel::context& ctx, Thrown const& what, std::string const& text) {
  auto open = [&] {
    return std::views::iota(0, 1000) | std::views::transform([&](int i) {
             if (i == 700) throw what;
             return i;
           });
  };
  auto const e = thrown_by<skel::source_error>(
      [&] {
        skel::farm(
            ctx, skel::on_root(open), [](int i) { return i; }, skel::schedule::guided{},
            [](skel::task_id, int) {});
      },
      "a source throws");
  check_equal(e.what(), "the source of tasks failed: " + text, "text of a source_error");
  usable(ctx);
}

void a_source_does_not_open(skel::context& ctx) {
  auto open = []() -> std::vector<int> { throw std::runtime_error("no such file"); };
  auto const e = thrown_by<skel::source_error>(
      [&] {
        skel::farm(
            ctx, skel::on_root(open), [](int i) { return i; }, skel::schedule::first_come{},
            [](skel::task_id, int) {});
      },
      "a source that does not open");
  check_equal(e.what(), "the source of tasks failed: no such file", "text of a source_error");
  usable(ctx);
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    for (auto const* how : {"blocks", "interleaved", "first-come", "guided", "hybrid", "auto"})
      for (auto const results : {skel::results::streamed(), skel::results::concentrated()})
        for (std::uint64_t const which : {std::uint64_t{0}, tasks / 2, tasks - 1})
          one_task_throws(ctx, skel::any_schedule(how), results, which);
    the_rank_is_named(ctx);
    missing_memory_is_named(ctx);
    several_tasks_throw(ctx);
    what_is_thrown_may_be_anything(ctx);
    sinks_throw(ctx);
    a_merge_throws(ctx);
    a_source_throws(ctx, std::runtime_error("line 700"), "line 700");
    a_source_throws(ctx, 700, "an exception that is no std::exception");
    a_source_does_not_open(ctx);
  });
}
