// How often a farm's ranks send results: the root says how long they may wait for others.
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "farm/role/member.hpp"
#include "farm/role/root.hpp"

namespace {

namespace role = skel::role;

template <class Message>
std::vector<Message> sent(role::farm_actions const& list, int to) {
  std::vector<Message> found;
  for (auto const& a : list)
    if (auto const* const s = std::get_if<role::farm::send>(&a); s != nullptr && s->to == to)
      if (auto const* const m = std::get_if<Message>(&s->what)) found.push_back(*m);
  return found;
}

// Rank 1 of two, with tasks of 10 ms, one at a time.
struct one_member {
  role::farm_member member;
  skel::task_id next = 0;
  role::farm_actions list;

  explicit one_member(double interval, std::uint64_t tasks, std::uint64_t batch = 1) {
    role::farm_member_config c;
    c.self = 1;
    c.ring.directed = true;
    c.ring.ranks = 2;
    c.wait.seconds = interval;
    c.results = skel::results::streamed(batch);
    member = role::farm_member(c);
    member.begin(list);
    member.on(0, role::farm::grant{{{0, tasks, 1}}}, list);
    member.idle(1, list);
    list.clear();
  }
  // Runs a task; returns the number of tasks whose results it sends.
  std::uint64_t run() {
    member.measured(1, 0.01);
    member.finished({next++, 1, 1}, 1, list);
    std::uint64_t n = 0;
    for (auto const& m : sent<role::farm::results>(list, 0)) n += skel::count_tasks(m.ranges);
    list.clear();
    return n;
  }
};

}  // namespace

TEST_CASE("results wait for the interval, and leave together") {
  one_member at_once(0, 100);
  for (int i = 0; i < 5; ++i) CHECK(at_once.run() == 1);
  one_member waits(0.035, 100);
  std::vector<std::uint64_t> counts(12);
  for (auto& n : counts) n = waits.run();
  CHECK(counts == std::vector<std::uint64_t>{0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4});
  waits.member.on(0, role::farm::spacing{15'000}, waits.list);
  CHECK(waits.run() == 0);
  CHECK(waits.run() == 2);
}

TEST_CASE("results do not wait when the rank needs tasks, or for long") {
  one_member last(10, 6);  // seconds
  std::uint64_t n = 0;
  for (int i = 0; i < 6; ++i) n += last.run();
  CHECK(n == 6);
  one_member long_task(10, 100);
  CHECK(long_task.run() == 0);
  role::farm_actions list;
  for (int i = 0; i < 2; ++i) long_task.member.tick(list);  // half a second
  CHECK(sent<role::farm::results>(list, 0).size() == 1);
}

TEST_CASE("a batch that the user chose waits for its tasks, however long that takes") {
  one_member batches(0, 100, 3);
  CHECK(batches.run() == 0);
  role::farm_actions list;
  for (int i = 0; i < 10; ++i) batches.member.tick(list);
  CHECK(sent<role::farm::results>(list, 0).empty());
  CHECK(batches.run() == 0);
  CHECK(batches.run() == 3);
}

TEST_CASE("no task is asked for that would wait for a costly one") {
  for (int const threads : {1, 2}) {
    role::farm_member_config c;
    c.self = 1;
    c.threads = threads;
    c.costly = 10;
    role::farm_member member(c);
    role::farm_actions list;
    auto const asks = [&] {
      auto const n = sent<role::farm::ask>(list, 0).size();
      list.clear();
      return n;
    };
    member.begin(list);
    CHECK(asks() == 1);
    auto const run = [&](skel::task_id id) {
      member.on(0, role::farm::grant{{{id, 1, 1}}}, list);
      member.idle(1, list);
      return asks();
    };
    if (threads == 2) CHECK(run(4) == 1);  // for the other thread
    CHECK(run(9) == 0);
    member.finished({9, 1, 1}, 1, list);
    auto const results = sent<role::farm::results>(list, 0);
    REQUIRE(results.size() == 1);
    CHECK(results[0].wanted > 0);
    list.clear();
    CHECK(run(10) == 1);  // ahead of time
  }
}

TEST_CASE("the root grants costly tasks one by one, and then as many as cost their share") {
  std::vector<double> each{100, 100, 100, 100};
  for (int i = 100; i > 0; --i) each.push_back(i);
  for (auto const& how : {skel::schedule::guided{}.policy(), skel::schedule::adaptive{}.policy()}) {
    role::farm_root_config c;
    c.ranks = 2;
    c.list.tasks = each.size();
    c.policy = how;
    c.list.costs = skel::task_costs(each);
    c.list.costly = 4;
    role::farm_root root(c);
    role::farm_actions list;
    auto const granted = [&](int rank) {
      root.on(rank, role::farm::ask{2, role::farm::load{0, 1}}, list);
      skel::range_list all;
      for (auto const& g : sent<role::farm::grant>(list, rank))
        all.insert(all.end(), g.ranges.begin(), g.ranges.end());
      list.clear();
      return all;
    };
    for (int const rank : {0, 1}) root.on(rank, role::call_message(role::hello{}), list);
    for (skel::task_id id = 0; id < 4; ++id)
      CHECK(granted(static_cast<int>(id % 2)) == skel::range_list{{id, 1, 1}});
    // A quarter of what is left, by cost and not by number: less than 100 + 99 + ... + 87 = 1309 of 5050 / 4.
    CHECK(granted(0) == skel::range_list{{4, 13, 1}});
  }
}

TEST_CASE("the root spaces results by the cost of a message and the number of ranks") {
  auto const spacing = [](int ranks, double cost) -> std::optional<std::uint64_t> {
    role::farm_root_config c;
    c.ranks = ranks;
    c.list.tasks = 1'000'000;
    c.policy = skel::schedule::adaptive{}.policy();
    role::farm_root root(c);
    role::farm_actions list;
    for (int r = 0; r < ranks; ++r) root.on(r, role::call_message(role::hello{}), list);
    list.clear();
    root.message_cost(cost);
    for (int i = 0; i < 2; ++i) root.on(1, role::farm::ask{1, {}, {}}, list);
    root.on(0, role::farm::ask{1, {}, {}}, list);
    CHECK(sent<role::farm::spacing>(list, 0).empty());  // its own results are no messages
    auto const told = sent<role::farm::spacing>(list, 1);
    CHECK(told.size() <= 1);  // not again while nothing changes
    return told.empty() ? std::nullopt : std::optional(told.front().microseconds);
  };
  CHECK(spacing(4, 1e-6) == std::nullopt);
  CHECK(spacing(1000, 1e-6) == 3200);  // 3 ms, rounded up
  CHECK(spacing(4, 1e-3) == 12'800);
  CHECK(spacing(1000, 1) == 204'800);  // the sink gets results within a second
}
