// The root's view of speeds and waiting tasks, and the copies and thefts that follow from it.
#include "catch.hpp"
#include "farm/role/late_tasks.hpp"
#include "farm/role/rank_loads.hpp"

namespace {

using skel::task_range;
using skel::role::begun_tasks;
using skel::role::rank_id;
using skel::role::rank_loads;

// Ranks of one thread with these costs in seconds per task, of as many tasks, and these waiting tasks.
rank_loads loads_of(std::vector<double> const& costs, std::vector<std::uint64_t> const& waiting,
                    std::uint64_t finished = 1000) {
  rank_loads loads(static_cast<rank_id>(costs.size()));
  for (rank_id r = 0; r < static_cast<rank_id>(costs.size()); ++r) {
    auto const i = static_cast<std::size_t>(r);
    loads.joins(r, 1, 0);
    loads.speeds().took(r, 1, costs[i]);
  }
  for (rank_id r = 0; r < static_cast<rank_id>(costs.size()); ++r) {
    auto const i = static_cast<std::size_t>(r);
    loads.speeds().finished(r, finished);
    loads.told(r, {waiting[i], costs[i]});
  }
  return loads;
}

constexpr auto any = [](rank_id /*owner*/, task_range const& /*tasks*/) { return true; };

std::optional<task_range> copy_for(rank_id thief, begun_tasks& begun, rank_loads const& loads, double t,
                                   skel::task_costs const& costs = {}, bool awaited = false) {
  auto const copy = skel::role::copy_for(thief, begun, loads, costs, t, awaited, any);
  return copy ? std::optional(copy->tasks) : std::nullopt;
}

}  // namespace

TEST_CASE("a rank's share follows its speed, and an unknown one counts as average") {
  auto const loads = loads_of({0.1, 0.3, 0}, {0, 0, 0});
  CHECK(loads.share(0, 2) == Approx(0.75).epsilon(0.02));
  CHECK(loads.share(1, 2) == Approx(0.25).epsilon(0.04));
  CHECK(loads.share(0, 3) == Approx(0.5).epsilon(0.02));  // speeds 10 and 10 / 3, and their mean
  CHECK(loads.share(2, 3) == 0);
  CHECK(loads.speed(2) == Approx(5));  // tasks take 0.2 s on average
  CHECK(rank_loads(2).speed(0) == 1);  // no task has finished
}

TEST_CASE("a rank's power counts until many of its tasks have finished") {
  rank_loads loads(2);
  loads.joins(0, 1, 2);
  loads.joins(1, 2, 0.5);
  CHECK(loads.speed(0) == 2);
  CHECK(loads.speed(1) == 1);    // two threads
  loads.speeds().took(0, 1, 1);  // two seconds on power 1
  loads.told(0, {0, 4});
  CHECK(loads.speed(0) == Approx(1).epsilon(0.25));
  auto const before = loads.speed(0);
  loads.speeds().finished(0, 1000);
  loads.told(0, {0, 4});
  CHECK(loads.speed(0) < before);
  CHECK(loads.speed(0) == Approx(0.25).epsilon(0.5));
  CHECK(loads.speeds().of_thread(1) == 0.25);
}

TEST_CASE("a thread is slower if its task is late, but by no more than a few tasks") {
  auto const loads = loads_of({1, 1}, {0, 0}, 1);
  CHECK(loads.speeds().of_thread(0, 1, 0.9) == loads.speeds().of_thread(0));
  auto const late = loads.speeds().of_thread(0, 1, 3);
  CHECK(late < loads.speeds().of_thread(0));
  CHECK(loads.speeds().of_thread(0, 1, 1e6) < late);
  CHECK(loads.speeds().of_thread(0, 1, 1e6) > 0.2);
}

TEST_CASE("copies are longer than average tasks and make no rank look slow") {
  auto loads = loads_of({1, 1}, {0, 0}, 4);
  auto const before = loads.speed(0);
  loads.told(0, {0, 2});  // seconds per task, of which one was a copy
  CHECK(loads.speed(0) < 0.8 * before);
  loads.speeds().copies(0, 5);
  CHECK(loads.speed(0) == Approx(before));
}

TEST_CASE("what a task still takes is learned from those that took longer") {
  skel::role::task_times times(1);
  CHECK(times.mean() == 1);
  CHECK(times.excess(0, 0) == 1);
  for (int i = 0; i < 900; ++i) times.add(0.02, 1);
  for (int i = 0; i < 100; ++i) times.add(1, 1);
  CHECK(times.mean() == Approx(0.118));
  CHECK(times.variation() == Approx(6.2).epsilon(0.02));
  CHECK(times.excess(0, 0) == Approx(0.118));
  CHECK(times.excess(0.05, 0.05) == Approx(0.95).epsilon(0.1));
  CHECK(times.excess(0.5, 0.9) == Approx(0.1).epsilon(0.8));
  CHECK(times.excess(3, 3) == Approx(6));  // twice as long once more
  times.running(118);                      // as much as those that have finished
  CHECK(times.mean() == Approx(0.236));
}

TEST_CASE("a thief takes from the rank that needs longest, so that both finish together") {
  // Rank 1 needs 3 s for its tasks, rank 2 needs 6 s for fewer.
  auto loads = loads_of({0.1, 0.1, 0.4}, {0, 30, 15});
  auto const theft = loads.theft_for(0);
  REQUIRE(theft);
  CHECK(theft->victim == 2);
  CHECK(theft->tasks == 12);  // four fifths of 15, and of half a running task
  loads.moves(2, 0, theft->tasks);
  CHECK(loads.theft_for(0)->victim == 1);
  loads.found_empty(1);
  loads.found_empty(2);
  CHECK_FALSE(loads.theft_for(0));
  CHECK_FALSE(loads.any_waiting());
}

TEST_CASE("a slow thief takes nothing that its victim would finish earlier") {
  CHECK_FALSE(loads_of({100, 0.1}, {0, 2}).theft_for(0));
  CHECK(loads_of({0.1, 0.1}, {0, 2}).theft_for(0)->tasks == 1);
}

TEST_CASE("lost ranks have no tasks and no speed") {
  auto loads = loads_of({0.1, 0.1, 0.2}, {0, 8, 2});
  loads.lost(1);
  CHECK(loads.theft_for(0)->victim == 2);
  CHECK(loads.share(0, 2) == Approx(2.0 / 3).epsilon(0.02));
  loads.lost(2);
  CHECK_FALSE(loads.any_waiting());
  // A rank that comes back is as unsure as a new one.
  loads.told(0, {0, 0.01});
  CHECK(loads.speed(0) > 50);
  loads.lost(0);
  loads.told(0, {0, 0.01});
  CHECK(loads.speed(0) < 20);
}

TEST_CASE("ranks are idle in the order of their requests, until they get tasks") {
  auto loads = loads_of({0.1, 0.1, 0.1}, {0, 0, 0});
  loads.waits_in_vain(1);
  CHECK(loads.idle().empty());  // it has not asked
  for (rank_id const i : {2, 1}) {
    loads.seeks(i);
    loads.waits_in_vain(i);
    loads.waits_in_vain(i);
  }
  CHECK(loads.idle() == std::vector<rank_id>{2, 1});
  loads.granted(2, 1);
  CHECK(loads.idle() == std::vector<rank_id>{1});
  loads.lost(1);
  CHECK(loads.idle().empty());
}

TEST_CASE("a faster rank copies the task that gains most, a slower one copies nothing") {
  auto const loads = loads_of({0.1, 1, 4, 2}, {0, 0, 0, 0});
  begun_tasks begun(4);
  begun.given(1, 1, {{10, 1, 1}}, 0);
  begun.given(2, 1, {{20, 1, 1}}, 0);
  CHECK_FALSE(copy_for(3, begun, loads_of({0, 1, 1, 8}, {0, 0, 0, 0}), 0));
  CHECK(copy_for(0, begun, loads, 0) == task_range{20, 1, 1});
  // The same range again only for a rank that is faster than the one with the copy.
  CHECK(copy_for(0, begun, loads, 0) == task_range{10, 1, 1});
  CHECK_FALSE(copy_for(3, begun, loads, 0));
  CHECK(copy_for(3, begun, loads_of({0.1, 1, 4, 0.01}, {0, 0, 0, 0}), 0));
  CHECK(begun.take(0).empty());  // it is lost, and its copies with it
  CHECK(copy_for(3, begun, loads, 0));
}

TEST_CASE("a task of unknown cost that runs for long is late") {
  // All ranks are equally fast: at first a copy would finish no earlier.
  auto const loads = loads_of({1, 1}, {0, 0});
  begun_tasks begun(2);
  begun.given(1, 1, {{5, 1, 1}}, 0);
  CHECK_FALSE(copy_for(0, begun, loads, 0.5));
  // A report that names the task again does not make it younger.
  begun.all(1, 1, {{5, 1, 1}}, 40);
  auto const faster = loads_of({0.5, 1}, {0, 0});
  CHECK(copy_for(0, begun, faster, 0.9) == task_range{5, 1, 1});
}

TEST_CASE("a task of known cost is late if its rank needs longer than the thief, however long it has run") {
  skel::task_costs const costs({6, 1, 1, 1, 1});
  auto const loads = loads_of({1, 1, 4}, {0, 0, 0});  // seconds per unit of cost
  auto const copy = [&](begun_tasks begun, double t) { return copy_for(0, begun, loads, t, costs); };
  begun_tasks begun(3);
  begun.given(1, 1, {{0, 1, 1}}, 0);
  CHECK_FALSE(copy(begun, 5.9));  // a tenth of a second is left, although it runs for long
  CHECK_FALSE(copy(begun, 6.1));  // as late as a task of unknown cost, but the thief is no faster
  begun.given(2, 1, {{1, 1, 1}}, 0);
  CHECK(copy(begun, 2.5) == task_range{1, 1, 1});
  CHECK_FALSE(copy(begun, 3.1));                   // the copy would take 1 s, and 0.9 s are left
  CHECK(copy(begun, 4.1) == task_range{1, 1, 1});  // it costs more than was said
}

TEST_CASE("the root copies only what it is sure to finish earlier") {
  auto const loads = loads_of({0.5, 1}, {0, 0});
  begun_tasks begun(2);
  begun.given(1, 1, {{5, 1, 1}}, 0);
  auto again = begun;
  CHECK_FALSE(copy_for(0, again, loads, 0.5, {}, true));
  CHECK(copy_for(0, again, loads, 0.5) == task_range{5, 1, 1});
  CHECK(copy_for(0, begun, loads, 0, {}, true) == task_range{5, 1, 1});
}

TEST_CASE("finished and forgotten ranges are not copied") {
  auto const loads = loads_of({0.1, 1}, {0, 0});
  begun_tasks begun(2);
  begun.given(1, 1, {{5, 1, 1}}, 0);
  begun.results(1, 1, {{5, 1, 1}}, {{8, 4, 1}}, 1);
  CHECK(copy_for(0, begun, loads, 1) == task_range{8, 4, 1});
  CHECK(begun.take(1) == skel::range_list{{8, 4, 1}});
  CHECK_FALSE(copy_for(0, begun, loads, 2));
}

namespace {

auto early_copies(begun_tasks& begun, rank_loads const& loads, double t, double remaining,
                  double unreported = 0) {
  return skel::role::early_copies(
      begun, loads, {}, t, unreported, remaining, [](rank_id) { return true; },
      [](rank_id, task_range const&) { return true; });
}

}  // namespace

TEST_CASE("a very late task is copied early, to the rank where it ends first") {
  auto loads = loads_of({1, 0.5, 0.25, 0.2}, {9, 9, 9, 9});
  for (rank_id i = 0; i < 4; ++i) loads.speeds().finished(i, 1000);
  begun_tasks begun(4);
  begun.given(0, 1, {{5, 1, 1}}, 0);
  CHECK(early_copies(begun, loads, 7, 10).empty());     // some tasks run for seven times the average
  CHECK(early_copies(begun, loads, 9, 19).empty());     // it is expected to end in 18 s, before the others
  CHECK(early_copies(begun, loads, 9, 10, 2).empty());  // it may have ended 2 s ago
  begun.given(3, 1, {{6, 1, 1}}, 3);                    // its rank is the fastest, and busy for long
  auto const copies = early_copies(begun, loads, 9, 10);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].rank == 2);
  CHECK(copies[0].task == 5);
  CHECK(early_copies(begun, loads, 9, 10).empty());  // no rank is clearly faster than the one that has a copy
}

TEST_CASE("of a late range of several tasks there is no early copy") {
  auto loads = loads_of({1, 0.1}, {9, 9});
  for (rank_id i = 0; i < 2; ++i) loads.speeds().finished(i, 1000);
  begun_tasks begun(2);
  begun.results(0, 1, {}, {{5, 2, 1}}, 0);
  CHECK(early_copies(begun, loads, 90, 1).empty());
  begun.results(0, 1, {}, {{5, 1, 1}}, 0);
  CHECK(early_copies(begun, loads, 90, 1).size() == 1);
}

TEST_CASE("a rank that has finished few tasks has no very late one") {
  auto loads = loads_of({1, 0.25}, {9, 9}, 1);
  begun_tasks begun(2);
  begun.given(0, 1, {{5, 1, 1}}, 0);
  CHECK(early_copies(begun, loads, 9, 1).empty());  // its average is not known yet
  loads.speeds().finished(0, 1000);
  CHECK(early_copies(begun, loads, 9, 1).size() == 1);
}

TEST_CASE("the remaining time counts what waits, and ranks of unknown speed as average ones") {
  auto const loads = loads_of({0.5, 0.25, 0}, {3, 4, 5});
  CHECK(loads.remaining(24, 3) == Approx(4).epsilon(0.02));  // 36 tasks at 2 + 4 + 3 per second
  CHECK(rank_loads(2).remaining(10, 2) == 0);
}
