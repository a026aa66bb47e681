#include "protocol/task_set.hpp"

#include <random>
#include <set>

#include "catch.hpp"

using skel::append;
using skel::range_list;
using skel::task_id;
using skel::task_range;
using skel::task_set;

namespace {
std::vector<task_id> ids_of(range_list const& ranges) {
  std::vector<task_id> ids;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) ids.push_back(r[i]);
  return ids;
}
}  // namespace

TEST_CASE("appended ranges hold the same tasks in the same order") {
  std::mt19937_64 dice(7);
  for (int turn = 0; turn < 5000; ++turn) {
    range_list list;
    std::vector<task_id> all;
    for (int i = 0; i < 8; ++i) {
      task_range const r{dice() % 30, dice() % 4, 1 + dice() % 3};
      append(list, r);
      for (std::uint64_t k = 0; k < r.count; ++k) all.push_back(r[k]);
    }
    REQUIRE(ids_of(list) == all);
    REQUIRE(skel::count_tasks(list) == all.size());
  }
}

TEST_CASE("a range is split without losing a task") {
  for (std::uint64_t count = 0; count < 6; ++count)
    for (std::uint64_t n = 0; n < 8; ++n) {
      task_range rest{3, count, 2};
      auto const front = rest.take_front(n);
      CHECK(front.count + rest.count == count);
      if (!front.empty() && !rest.empty()) CHECK(rest.first == front.last() + 2);
      task_range head{3, count, 2};
      auto const back = head.take_back(n);
      CHECK(back.count + head.count == count);
      if (!back.empty() && !head.empty()) CHECK(back.first == head.last() + 2);
    }
}

TEST_CASE("a task_set is a set") {
  std::mt19937_64 dice(11);
  for (int turn = 0; turn < 400; ++turn) {
    task_set tasks, other;
    std::set<task_id> model, other_model;
    std::uint64_t const size = 20 + dice() % 400;
    for (int i = 0; i < 60; ++i) {
      task_range const r{dice() % size, 1 + dice() % 80, dice() % 4 == 0 ? 1 + dice() % 5 : 1};
      bool meets = false;
      std::vector<task_id> fresh;
      for (std::uint64_t k = 0; k < r.count; ++k) {
        meets = meets || model.contains(r[k]);
        if (!model.contains(r[k])) fresh.push_back(r[k]);
      }
      REQUIRE(tasks.intersects(r) == meets);
      REQUIRE(ids_of(tasks.insert(r)) == fresh);
      model.insert(fresh.begin(), fresh.end());
      task_id const one = dice() % size;
      REQUIRE(other.insert(one) == other_model.insert(one).second);
      REQUIRE(tasks.count() == model.size());
      task_id low = 0;
      while (model.contains(low)) ++low;
      REQUIRE(tasks.low_water() == low);
      std::vector<task_id> missing;
      for (task_id id = 5; id < size; ++id)
        if (!model.contains(id) && !other_model.contains(id)) missing.push_back(id);
      REQUIRE(ids_of(tasks.missing(5, size, other)) == missing);
    }
  }
}

TEST_CASE("a task_set filled from below stays small") {
  task_set tasks;
  std::size_t most = 0;
  for (task_id id = 0; id < 1000000; id += 4) {
    tasks.insert(task_range{id + 2, 2, 1});
    tasks.insert(task_range{id, 2, 1});
    most = std::max(most, tasks.memory_words());
  }
  CHECK(tasks.count() == 1000000);
  CHECK(most <= 2);
}

TEST_CASE("the missing tasks of an endless list are few ranges, found quickly") {
  task_set tasks;
  tasks.insert(task_range{0, 640, 1});
  tasks.insert(task_id{1000});
  task_id const end = task_id{1} << 62;
  range_list const expected{{640, 360, 1}, {1001, end - 1001, 1}};
  CHECK(tasks.missing(0, end, {}) == expected);
}
