// Runs ring_steal's protocol with events in random order and every kind of failure, then small cases in
// every order.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "fewer.hpp"

using harness_common::runs_wanted;
using harness_common::try_many;

TEST_CASE("every node is counted once in every order of events", "[random]") {
  try_many("any", steal_harness::random_scenario, 1, runs_wanted(10000));
}

TEST_CASE("ring_steal survives the death of any ranks but the root", "[deaths]") {
  try_many("deaths", steal_harness::death_scenario, 1000000007, runs_wanted(12000));
}

TEST_CASE("a task that kills every rank that runs it is blamed", "[deaths]") {
  try_many("poison", steal_harness::poison_scenario, 3, runs_wanted(8000));
}

TEST_CASE("ranks leave in the middle: every node is counted once, and runs once if none is lost",
          "[retire]") {
  try_many("retire", steal_harness::retirement_scenario, 5, runs_wanted(16000));
}

TEST_CASE("a rank gets away while the others are busy", "[retire]") {
  std::uint64_t const seeds = test::fewer_if_slow(4000);
  std::uint64_t left = 0;
  for (std::uint64_t seed = 1; seed <= seeds; seed += 2) {
    auto const s = steal_harness::retirement_scenario(seed);
    INFO(s.describe());
    steal_harness::world w(s);
    std::mt19937_64 dice(s.seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    for (int r = 1; r < s.ranks && !w.ended(); ++r) {
      REQUIRE(w.gets_away(r, dice));
      ++left;
    }
    w.settle(dice);
    w.check_end();
  }
  CHECK(left > seeds / 4);
}

namespace {

struct last_words_first : steal_harness::fault {
  bool hears(world& w, event const& e) override {
    return e.what != event::kind::detect || static_cast<steal_harness::world&>(w).is_silent(e.b);
  }
};

}  // namespace

// Only the poison kills ranks here, everything a rank has sent is delivered, and ranks make no statements.
// It is not known whether the first of them ran the task.
TEST_CASE("a poisonous task costs max_losses_per_task ranks and one, and more for each lender among them",
          "[deaths]") {
  int named = 0, exactly = 0, root_first = 0;
  for (std::uint64_t seed = 1; seed <= test::fewer_if_slow(6000); ++seed) {
    auto const s = steal_harness::poison_scenario(seed);
    if (s.deaths > 0 || !s.last_words || s.statements > 0 || s.parent.size() > s.most_parcels) continue;
    INFO(s.describe());
    last_words_first order;
    steal_harness::world w(s, &order);
    std::mt19937_64 dice(s.seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    w.settle(dice);
    w.check_end();
    auto const allowed = static_cast<int>(s.most_losses) + 1;
    auto const most = allowed + w.lenders_poisoned() * (allowed - 1);
    if (w.blamed()) {
      ++named;
      exactly += w.poisoned() == allowed ? 1 : 0;
      CHECK(w.poisoned() <= most);
    } else if (w.poisoned() == 0) {
      ++root_first;
    } else {
      CHECK(w.poisoned() == s.ranks - 1);  // only the root is left
      CHECK(w.poisoned() <= most);
    }
  }
  std::printf(
      "%d runs name the loan, %d of them after the fewest losses; in %d the root ran the task first\n", named,
      exactly, root_first);
  CHECK(exactly > named / 2);
  CHECK(named > root_first / 4);
}

TEST_CASE("small trees in every order of events", "[exhaustive]") {
  struct small {
    char const* name;
    int ranks;
    std::vector<int> parent;
    int deaths, suspicions;
    std::uint64_t ticks;
    bool records = false, stops = false, bounded = false;
    int retirements = 0;
  };
  std::vector<small> const all{
      {"2 ranks, 3 nodes", 2, {-1, 0, 0}, 0, 0, 0},
      {"2 ranks, 4 nodes, a death", 2, {-1, 0, 0, 1}, 1, 0, 0},
      {"2 ranks, 3 nodes, a suspicion and two ticks", 2, {-1, 0, 0}, 0, 1, 2},
      {"3 ranks, 3 nodes", 3, {-1, 0, 0}, 0, 0, 0},
      {"3 ranks, 2 nodes, a death", 3, {-1, 0}, 1, 0, 0},
      {"2 ranks, 5 nodes, a death, a suspicion, a tick", 2, {-1, 0, 0, 1, 1}, 1, 1, 1},
      {"3 ranks, 4 nodes, a death", 3, {-1, 0, 0, 1}, 1, 0, 0},
      {"2 ranks, 3 nodes, a death, a statement, a tick", 2, {-1, 0, 0}, 1, 0, 1, true},
      {"2 ranks, 3 nodes, a statement, a tick, an early stop", 2, {-1, 0, 0}, 0, 0, 1, true, true},
      {"3 ranks, 2 nodes, a statement, a tick, an early stop", 3, {-1, 0}, 0, 0, 1, true, true},
      {"2 ranks, 3 nodes, bounds, a death, a tick", 2, {-1, 0, 0}, 1, 0, 1, false, false, true},
      {"2 ranks, 4 nodes, one leaves", 2, {-1, 0, 0, 1}, 0, 0, 0, false, false, false, 1},
      {"3 ranks, 3 nodes, one leaves", 3, {-1, 0, 0}, 0, 0, 0, false, false, false, 1},
      {"3 ranks, 4 nodes, two leave", 3, {-1, 0, 0, 0}, 0, 0, 0, false, false, false, 2},
      {"3 ranks, 3 nodes, one leaves, a death", 3, {-1, 0, 0}, 1, 0, 0, false, false, false, 1},
      {"3 ranks, 3 nodes, one leaves, a suspicion, a tick", 3, {-1, 0, 0}, 0, 1, 1, false, false, false, 1},
      {"3 ranks, 3 nodes, one leaves, an early stop", 3, {-1, 0, 0}, 0, 0, 0, false, true, false, 1},
  };
  bool const patient = std::getenv("SKEL_LONG") != nullptr;
  for (auto const& x : all) {
    steal_harness::scenario s;
    s.ranks = x.ranks;
    s.parent = x.parent;
    s.deaths = x.deaths;
    s.suspicions = x.suspicions;
    s.records = x.records;
    s.stops_early = x.stops;
    s.bounded = x.bounded;
    s.retirements = x.retirements;
    s.statements = x.ticks;
    s.explored = true;
    auto const found = harness_common::explore(steal_harness::world(s), x.ticks,
                                               patient ? 5000000 : test::fewer_if_slow(60000));
    found.print(x.name);
    CHECK(found.ends > 0);
  }
}
