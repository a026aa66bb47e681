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
  CHECK(b.root.book().counts.again > 0);
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

namespace {

// Ranks 0, which is the root, and 1, with these powers; tasks are granted on request.
struct two_ranks {
  role::farm_root root;
  two_ranks(double root_power, double power, std::uint64_t tasks) {
    role::farm_root_config c;
    c.ranks = 2;
    c.list.tasks = tasks;
    c.policy = skel::schedule::adaptive{}.policy();
    root = role::farm_root(c);
    role::farm_actions list;
    root.on(0, role::call_message(role::hello{0, 1, root_power}), list);
    root.on(1, role::call_message(role::hello{0, 1, power}), list);
  }
  // Number of tasks that the rank gets.
  static std::uint64_t granted(int rank, role::farm_actions const& list) {
    std::uint64_t n = 0;
    for (auto const& a : list)
      if (auto const* const s = std::get_if<role::farm::send>(&a); s != nullptr && s->to == rank)
        n += skel::count_tasks(skel::role::given_tasks(s->what).empty()
                                   ? skel::range_list{}
                                   : skel::range_list{skel::role::given_tasks(s->what).front()});
    return n;
  }
  std::uint64_t ask(int rank) {
    role::farm_actions list;
    root.on(rank, role::farm::ask{1, role::farm::load{}}, list);
    return granted(rank, list);
  }
};

}  // namespace

TEST_CASE("a slow root leaves the last tasks to a fast rank, unless that is lost") {
  two_ranks equal(1, 1, 1);
  CHECK(equal.ask(1) == 1);
  two_ranks many(0.25, 4, 1000);
  CHECK(many.ask(0) == 1);
  two_ranks few(0.25, 4, 3);
  CHECK(few.ask(0) == 0);
  CHECK(few.ask(1) == 1);
  role::farm_actions list;
  few.root.tick(list);
  CHECK(two_ranks::granted(0, list) == 0);
  list.clear();
  few.root.lost(1, list);
  few.root.tick(list);
  CHECK(two_ranks::granted(0, list) == 1);
}

namespace {

// Ranks with different memory; rank 0 is the root. Tells which of them is given task 7 alone.
struct unequal_ranks {
  role::farm_root root;
  role::farm_actions list;

  explicit unequal_ranks(std::vector<std::uint64_t> const& memory, role::farm_root_config c,
                         int silent = -1) {
    c.ranks = static_cast<int>(memory.size());
    c.list.tasks = 10;
    c.policy = skel::schedule::blocks{}.policy();
    for (auto const bytes : memory) c.rooms.push_back({bytes, 1});
    root = role::farm_root(c);
    for (int r = 0; r < c.ranks; ++r)
      if (r != silent) root.on(r, role::call_message(role::hello{}), list);
  }
  // The rank may run what it was given before: it is watched. -1: no rank.
  std::pair<int, bool> given() {
    std::pair<int, bool> found{-1, false};
    for (auto const& a : std::exchange(list, {})) {
      auto const* const s = std::get_if<role::farm::send>(&a);
      auto const* const alone = s == nullptr ? nullptr : std::get_if<role::farm::grant_alone>(&s->what);
      if (alone != nullptr && alone->task.first == 7) found = {s->to, alone->watched};
    }
    return found;
  }
  void refuse(int rank) { root.on(rank, role::farm::refused{7, 0, 2, 1}, list); }
};

}  // namespace

TEST_CASE("a task that only the root has room for runs there again when it has thrown") {
  role::farm_root_config c;
  c.on_error = skel::on_error::retry{};
  unequal_ranks ranks({4, 1, 1}, c);
  CHECK(ranks.given().first == -1);
  ranks.refuse(2);
  CHECK(ranks.given().first == 0);
  for (std::uint64_t nth = 0; nth < 2; ++nth) {
    ranks.root.on(0, role::farm::task_failed{7, nth, "no"}, ranks.list);
    CHECK(ranks.given().first == 0);
  }
}

TEST_CASE("a rank that refuses a suspect does not acquit it") {
  role::farm_root_config c;
  c.losses.most = 2;
  c.losses.former_roots = {{-1, {{7, 1, 1}}}};
  c.list.recalled = c.list.resumed = true;
  unequal_ranks ranks({4, 1, 4}, c);
  CHECK(ranks.given() == std::pair(1, true));
  ranks.refuse(1);
  CHECK(ranks.given() == std::pair(2, true));
  ranks.refuse(1);  // a repeated message
  CHECK(ranks.given().first == -1);

  unequal_ranks alone({4, 1, 1}, c);
  CHECK(alone.given().first == 1);
  alone.refuse(1);
  CHECK(alone.given() == std::pair(0, true));
}

TEST_CASE("the call ends when its last task is left out because the rank with room for it is lost") {
  role::farm_root_config c;
  c.first_computing = 1;
  c.on_error = skel::on_error::collect{};
  unequal_ranks ranks({4, 1, 4}, c, 2);
  ranks.refuse(1);
  CHECK(ranks.given().first == -1);  // it waits for rank 2
  for (skel::task_range const r : {skel::task_range{0, 7, 1}, skel::task_range{8, 2, 1}})
    ranks.root.on(1, role::farm::results{{r}}, ranks.list);
  ranks.root.sunk(9, 10, ranks.list);
  CHECK_FALSE(ranks.root.book().stopping());
  ranks.root.lost(2, ranks.list);
  ranks.root.tick(ranks.list);
  CHECK(ranks.root.book().stopping());
}
