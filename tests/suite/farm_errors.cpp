// Exceptions of the user's code: every rank throws the same error, and the context remains usable.
#include <new>
#include <ranges>

#include "suite.hpp"

namespace suite::errors {

namespace {

constexpr std::uint64_t tasks = 300;
auto const ignore = [](skel::task_id, std::uint64_t) {};
auto const same = [](std::uint64_t i) { return i; };

// The error of a farm whose tasks, with interleaved, run on known ranks.
template <class F>
skel::task_error failed(skel::context& ctx, F const& f) {
  auto const e = thrown_by<skel::task_error>(
      ctx, [&] { skel::farm(ctx, skel::indices(tasks), f, skel::schedule::interleaved{}, ignore); });
  usable(ctx);
  return e;
}

}  // namespace

TEST_CASE("a task that throws ends the run with its number, rank and text", "[farm][errors]") {
  for (auto const* name : schedules) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      for (auto const& results : {skel::results::streamed(), skel::results::concentrated()})
        for (std::uint64_t const which : {std::uint64_t{0}, tasks / 2, tasks - 1}) {
          auto const bad = [&](std::uint64_t i) {
            if (i == which) throw std::runtime_error("bad task " + std::to_string(i));
            return i;
          };
          auto const e = thrown_by<skel::task_error>(ctx, [&] {
            skel::farm(ctx, skel::indices(tasks), bad, skel::any_schedule(name), ignore,
                       {.results = results});
          });
          auto const number = std::to_string(which);
          CHECK(e.task() == which);
          CHECK(e.text() == "bad task " + number);
          CHECK(e.more() == 0);
          CHECK(e.rank() >= 0);
          CHECK(e.rank() < ctx.size());
          CHECK(e.what() ==
                "task " + number + " failed on rank " + std::to_string(e.rank()) + ": " + e.text());
          usable(ctx);
        }
    });
  }
}

TEST_CASE("the rank on which a task failed is named", "[farm][errors]") {
  on_ranks([](skel::context& ctx) {
    for (int r = 0; r < ctx.size(); ++r)
      CHECK(failed(ctx, [&](std::uint64_t i) {
              if (i == static_cast<std::uint64_t>(r)) throw std::logic_error("mine");
              return i;
            }).rank() == r);
  });
}

TEST_CASE("missing memory and exceptions that are no std::exception are named", "[farm][errors]") {
  on_ranks([](skel::context& ctx) {
    CHECK(failed(ctx, [](std::uint64_t) -> std::uint64_t { throw std::bad_alloc(); }).text() ==
          "out of memory");
    auto const e = thrown_by<skel::task_error>(ctx, [&] {
      skel::farm(
          ctx, skel::indices(tasks), [](std::uint64_t i) { return i == 17 ? throw 42 : i; },
          skel::schedule::guided{}, ignore);
    });
    CHECK(e.text() == "an exception that is no std::exception");
    usable(ctx);
  });
}

TEST_CASE("of several tasks that throw, one is named and the others are counted", "[farm][errors]") {
  on_ranks([](skel::context& ctx) {
    auto const e = failed(
        ctx, [](std::uint64_t i) -> std::uint64_t { throw std::runtime_error("all " + std::to_string(i)); });
    CHECK(e.text() == "all " + std::to_string(e.task()));
    // Each compute thread stops at its first failure; no rank starts a task after it has heard of one.
    CHECK(e.more() < static_cast<std::uint64_t>(ctx.size() * ctx.threads()));
    if (e.more() > 0) CHECK(contains(e.what(), " (and " + std::to_string(e.more()) + " more)"));
  });
}

TEST_CASE("a sink that throws ends the run with the task and the text", "[farm][errors]") {
  auto const throws = [](skel::task_id id, std::uint64_t) {
    if (id == 100) throw std::runtime_error("disk full");
  };
  auto const throws_int = [](skel::task_id id, std::uint64_t) {
    if (id == 100) throw 1;
  };
  on_ranks([&](skel::context& ctx) {
    auto const ends = [&](auto const& sink, std::string const& text) {
      for (auto const& results : {skel::results::streamed(), skel::results::concentrated()}) {
        auto const e = thrown_by<skel::sink_error>(ctx, [&] {
          skel::farm(ctx, skel::indices(tasks), same, skel::schedule::interleaved{}, sink,
                     {.results = results});
        });
        CHECK(e.task() == 100);
        CHECK(e.text() == text);
        CHECK(e.what() == "the sink failed on the result of task 100: " + text);
        usable(ctx);
      }
    };
    ends(throws, "disk full");
    ends(skel::ordered(throws), "disk full");
    ends(throws_int, "an exception that is no std::exception");
  });
}

TEST_CASE("a merge that throws ends the run", "[farm][errors]") {
  on_ranks([](skel::context& ctx) {
    std::uint64_t total = 0;
    auto const merge = [](std::uint64_t, std::uint64_t) -> std::uint64_t {
      throw std::runtime_error("cannot merge");
    };
    // A task's error if a rank merges its own results, the sink's error if the root merges.
    auto const e = thrown_by<skel::error>(ctx, [&] {
      skel::farm(ctx, skel::indices(tasks), same, skel::schedule::interleaved{}, skel::reduced(total, merge));
    });
    CHECK(contains(e.what(), "cannot merge"));
    usable(ctx);
  });
}

TEST_CASE("a source that throws, or does not open, ends the run", "[farm][errors]") {
  on_ranks([](skel::context& ctx) {
    auto const ends = [&](auto const& open, std::string const& text) {
      auto const e = thrown_by<skel::source_error>(ctx, [&] {
        skel::farm(
            ctx, skel::on_root(open), [](int i) { return i; }, skel::schedule::guided{},
            [](skel::task_id, int) {});
      });
      CHECK(e.what() == "the source of tasks failed: " + text);
      usable(ctx);
    };
    auto const throwing = [](auto const& what) {
      return [what] {
        return std::views::iota(0, 1000) |
               std::views::transform([what](int i) { return i == 700 ? throw what : i; });
      };
    };
    ends(throwing(std::runtime_error("line 700")), "line 700");
    ends(throwing(700), "an exception that is no std::exception");
    ends([]() -> std::vector<int> { throw std::runtime_error("no such file"); }, "no such file");
  });
}

}  // namespace suite::errors
