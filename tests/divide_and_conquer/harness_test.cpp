// Divide-and-conquer's protocol in random order, with everything going wrong that may; and in every order.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "fewer.hpp"

namespace {

using partner_harness::problem_place;
using partner_harness::solution_place;

}  // namespace

TEST_CASE("the solution is right in every order of events", "[random]") {
  harness_common::try_many(
      "any", [](auto seed) { return partner_harness::run(partner_harness::random_scenario(seed)); }, 1,
      harness_common::runs_wanted(4000));
}

TEST_CASE("divide and conquer survives the death of any ranks but the root", "[deaths]") {
  harness_common::try_many(
      "deaths", [](auto seed) { return partner_harness::run(partner_harness::death_scenario(seed)); },
      1000000007, harness_common::runs_wanted(10000));
}

TEST_CASE("64 ranks, 16 deaths, 16 suspicions", "[random]") {
  for (auto const to : {solution_place::everywhere, solution_place::root}) {
    partner_harness::scenario s;
    s.seed = 64;
    s.ranks = 64;
    s.items = 1000;
    s.deaths = 16;
    s.suspicions = 16;
    s.chaos = 3000;
    s.to = to;
    CHECK(partner_harness::run(s).deaths > 0);
  }
}

// "hypercube divide and conquer", section 3: log P exchanges of each rank with its partner of the level.
TEST_CASE("a hypercube exchanges once per level and rank, and nothing else") {
  for (int ranks : {2, 4, 8, 16}) {
    partner_harness::scenario s;
    s.ranks = ranks;
    s.items = 64;
    s.from = problem_place::everywhere;
    partner_harness::world w(s);
    std::mt19937_64 dice(1);
    w.settle(dice);
    w.check_end();
    int levels = 0;
    while (1 << levels < ranks) ++levels;
    // hello, reached, stop, stopped, finish: one each
    CHECK(w.messages() == static_cast<std::uint64_t>(ranks * (levels + 5)));
  }
}

TEST_CASE("small problems in every order of events", "[exhaustive]") {
  struct small {
    char const* name;
    int ranks;
    problem_place from;
    solution_place to;
    int items, deaths, suspicions;
    std::uint64_t ticks;
  };
  std::vector<small> const all{
      {"2 ranks, hypercube, from the root", 2, problem_place::root, solution_place::everywhere, 4, 0, 0, 0},
      {"2 ranks, hypercube, a death, a tick", 2, problem_place::root, solution_place::everywhere, 4, 1, 0, 1},
      {"2 ranks, hypercube, a suspicion, 2 ticks", 2, problem_place::root, solution_place::everywhere, 4, 0,
       1, 2},
      {"3 ranks, tree, a death", 3, problem_place::root, solution_place::root, 4, 1, 0, 0},
      {"3 ranks, hypercube, replicated", 3, problem_place::everywhere, solution_place::everywhere, 4, 0, 0,
       0},
      {"3 ranks, hypercube, replicated, a death", 3, problem_place::everywhere, solution_place::everywhere, 4,
       1, 0, 0},
      {"4 ranks, tree", 4, problem_place::root, solution_place::root, 4, 0, 0, 0},
      {"4 ranks, embarrassing, a death", 4, problem_place::parts, solution_place::root, 4, 1, 0, 0},
      {"4 ranks, distributed, one problem only", 4, problem_place::root, solution_place::parts, 1, 0, 0, 0},
  };
  bool const patient = std::getenv("SKEL_LONG") != nullptr;
  for (auto const& x : all) {
    partner_harness::scenario s;
    s.ranks = x.ranks;
    s.from = x.from;
    s.to = x.to;
    s.items = x.items;
    s.deaths = x.deaths;
    s.suspicions = x.suspicions;
    auto const found = harness_common::explore(partner_harness::world(s), x.ticks,
                                               patient ? 5000000 : test::fewer_if_slow(30000));
    std::printf("%s: %llu states, depth %llu, %llu ends%s\n", x.name,
                static_cast<unsigned long long>(found.states), static_cast<unsigned long long>(found.depth),
                static_cast<unsigned long long>(found.ends), found.complete ? "" : " (not all)");
    CHECK(found.ends > 0);
  }
}
