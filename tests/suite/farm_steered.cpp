// Steered sources: the next tasks depend on results.
#include <utility>

#include "farm/steered_chain.hpp"
#include "suite.hpp"

namespace suite::steered {

using steered_test::chain;
using steered_test::driven;
using steered_test::result_of;

namespace {

constexpr char const* asking[] = {"auto", "first-come", "first-come:chunk=2", "guided", "ring"};

// Some take ten times as long as others.
std::uint64_t uneven(std::uint64_t task) {
  spend(std::chrono::microseconds(task % 8 == 0 ? 500 : 50));
  return result_of(task);
}

}  // namespace

TEST_CASE("reproducible: the state sees the same calls on any ranks", "[farm][steered]") {
  auto const right = driven({.limit = 100, .cancels = true}, 10);
  for (auto const* name : asking) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      chain state{.limit = 100, .cancels = true};
      auto const r = skel::farm(ctx, skel::steered(state, skel::reproducible{10}), uneven,
                                skel::any_schedule(name), skel::discard)
                         .report;
      CHECK(r.tasks == right.told);
      CHECK(state.log == (ctx.is_root() ? right.log : std::vector<std::uint64_t>()));
      if (!ctx.is_root()) return;
      CHECK(state.tasks == right.tasks);
      CHECK(state.cancelled == right.cancelled);
    });
  }
}

TEST_CASE("as results come: every task is told once or was cancelled", "[farm][steered]") {
  for (auto const* name : asking) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      chain state{.limit = 100, .cancels = true};
      std::uint64_t sunk = 0;
      auto const r = skel::farm(ctx, skel::steered(state), uneven, skel::any_schedule(name),
                                [&](skel::task_id, std::uint64_t) { ++sunk; })
                         .report;
      if (!ctx.is_root()) return;
      CHECK(state.told + state.cancelled.size() == 100);
      CHECK(state.open.empty());
      CHECK(sunk == state.told);
      CHECK(r.tasks == state.told);
    });
  }
}

TEST_CASE("the state ends the run early", "[farm][steered]") {
  on_ranks([](skel::context& ctx) {
    for (std::uint64_t const window : {std::uint64_t{0}, std::uint64_t{6}}) {
      chain state{.limit = 100'000, .stop_after = 40};
      auto const source =
          window > 0 ? skel::steered(state, skel::reproducible{window}) : skel::steered(state);
      auto const r = skel::farm(ctx, source, uneven, skel::discard).report;
      CHECK(r.stopped_early);
      CHECK(r.tasks == 40);
      if (ctx.is_root()) CHECK(state.told == 40);
    }
    usable(ctx);
  });
}

namespace {

// Texts: tasks and results travel as bytes. Owned by the source.
struct speller {
  std::vector<std::string>* into;
  bool waits = false;
  std::optional<std::vector<std::string>> ask(std::uint64_t /*n*/) {
    if (into->size() == 20) return std::nullopt;
    std::vector<std::string> tasks;
    if (!std::exchange(waits, true)) tasks.emplace_back(into->empty() ? "" : into->back());
    return tasks;
  }
  void tell(std::int64_t, std::string const& task, std::string const& longer) {
    CHECK(longer == task + "x");
    into->push_back(longer);
    waits = false;
  }
};

}  // namespace

TEST_CASE("a steered source may be one task at a time, of any type", "[farm][steered]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::string> told, sunk;
    skel::farm(
        ctx, skel::steered(speller{&told}), [](std::string const& text) { return text + "x"; },
        skel::into(sunk));
    if (!ctx.is_root()) return;
    CHECK(told.size() == 20);
    CHECK(told.back() == std::string(20, 'x'));
    CHECK(sunk == told);
  });
}

}  // namespace suite::steered
