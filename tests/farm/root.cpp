// The root's root alone: how often it takes stock, which the harness does not check.
#include "farm/role/root.hpp"

#include <utility>
#include <variant>

#include "catch.hpp"

namespace {

namespace role = skel::role;

// A root with ranks 0 ... 3, of which rank 3 is lost, that hold all tasks. Time passes, results arrive.
struct book {
  role::farm_root root;
  int stocks = 0;  // number of rounds so far

  book() {
    role::farm_root_config c;
    c.ranks = 4;
    c.list.tasks = 1000;
    c.policy = skel::schedule::blocks{}.policy();
    root = role::farm_root(c);
    role::farm_actions list;
    for (int r = 0; r < 4; ++r) root.on(r, role::call_message(role::hello{}), list);
  }
  // Every living rank except `silent` answers that it holds `claimed`.
  void answer(role::farm_actions& list, skel::task_range claimed, int silent = -1) {
    for (auto const& a : std::exchange(list, {})) {
      auto const* const s = std::get_if<role::farm::send>(&a);
      auto const* const asked = s == nullptr ? nullptr : std::get_if<role::farm::take_stock>(&s->what);
      if (asked == nullptr) continue;
      stocks += s->to == 0 ? 1 : 0;
      if (s->to == silent) continue;
      root.on(s->to, role::farm::stock{asked->round, 0, {claimed}}, list);
    }
  }
  void lose(int rank, skel::task_range claimed) {
    role::farm_actions list;
    root.lost(rank, list);
    answer(list, claimed);
  }
  void pass(int ticks, skel::task_range claimed, int silent = -1) {
    for (int i = 0; i < ticks; ++i) {
      role::farm_actions list;
      root.lost(3, list);     // as the engine says on every tick
      root.sunk(0, 0, list);  // the run makes progress
      root.tick(list);
      answer(list, claimed, silent);
    }
  }
};

constexpr skel::task_range everything{0, 1000, 1};

}  // namespace

TEST_CASE("a loss starts taking stock at once, and again after growing pauses") {
  book b;
  b.lose(3, everything);
  CHECK(b.stocks == 1);
  b.pass(1, everything);
  CHECK(b.stocks == 2);
  b.pass(2, everything);
  CHECK(b.stocks == 3);
  b.pass(61, everything);
  CHECK(b.stocks == 7);
  b.pass(1000, everything);
  CHECK(b.stocks < 25);
}

TEST_CASE("incomplete stock is taken again soon, and a round without an answer is repeated") {
  book b;
  b.lose(3, everything);
  b.pass(100, everything);
  auto before = b.stocks;
  b.pass(64, {0, 900, 1});
  CHECK(b.root.book().again > 0);
  CHECK(b.stocks >= before + 2);
  b.pass(200, everything);
  before = b.stocks;
  b.pass(100, everything, 2);
  CHECK(b.stocks >= before + 5);
}

TEST_CASE("no stock is taken while no rank is lost and the run makes progress") {
  book b;
  for (int i = 0; i < 100; ++i) {
    role::farm_actions list;
    b.root.sunk(0, 0, list);
    b.root.tick(list);
    b.answer(list, everything);
  }
  CHECK(b.stocks == 0);
}
