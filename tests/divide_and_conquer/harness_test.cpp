// Runs divide-and-conquer's protocol with events in random order and every kind of failure, then small cases
// in every order.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "fewer.hpp"

namespace {

using skel::division::placement;

}  // namespace

TEST_CASE("the solution is right in every order of events", "[random]") {
  harness_common::try_many("any", divide_harness::random_scenario, 1, harness_common::runs_wanted(4000));
}

TEST_CASE("divide and conquer survives the death of any ranks but the root", "[deaths]") {
  harness_common::try_many("deaths", divide_harness::death_scenario, 1000000007,
                           harness_common::runs_wanted(10000));
}

TEST_CASE("work that kills the ranks that do it is blamed", "[deaths]") {
  harness_common::try_many("poison", divide_harness::poison_scenario, 31, harness_common::runs_wanted(10000));
  // The work must be blamed in every run that leaves enough ranks for the required losses.
  int runs = 0;
  for (std::uint64_t seed = 1; seed <= test::fewer_if_slow(4000); ++seed) {
    auto const s = divide_harness::poison_scenario(seed);
    int const left = s.ranks - s.poison->group.size();
    bool const undisturbed = s.deaths == 0 && s.suspicions == 0 && s.items == 64;
    if (!undisturbed || s.most_losses > 2 || left < 3) continue;
    ++runs;
    INFO(s.describe());
    CHECK(divide_harness::run(s).blamed);
  }
  std::printf("%d runs blame the work\n", runs);
  CHECK(runs > 0);
}

TEST_CASE("without losses no rank asks for permission") {
  for (auto const from : {placement::everywhere, placement::on_root, placement::in_parts})
    for (auto const to : {placement::everywhere, placement::on_root, placement::in_parts})
      for (int const items : {1, 3, 64}) {
        divide_harness::scenario s;
        s.ranks = 7;
        s.items = items;
        s.from = from;
        s.to = to;
        s.most_losses = 2;
        divide_harness::world w(s);
        std::mt19937_64 dice(1);
        w.settle(dice);
        w.check_end();
        CHECK(w.messages_of<skel::role::divide::ask_takeover>() == 0);
        CHECK(w.messages_of<skel::role::divide::need_problem>() == 0);
      }
}

TEST_CASE("64 ranks, 16 deaths, 16 suspicions", "[random]") {
  for (auto const to : {placement::everywhere, placement::on_root}) {
    divide_harness::scenario s;
    s.seed = 64;
    s.ranks = 64;
    s.items = 1000;
    s.deaths = 16;
    s.suspicions = 16;
    s.chaos = 3000;
    s.to = to;
    CHECK(divide_harness::run(s).deaths > 0);
  }
}

// [Hyper, §3]: each rank makes log P exchanges, one with its partner per level.
TEST_CASE("each rank of a hypercube makes one exchange per level, and no other") {
  for (int ranks : {2, 4, 8, 16}) {
    divide_harness::scenario s;
    s.ranks = ranks;
    s.items = 64;
    s.from = placement::everywhere;
    divide_harness::world w(s);
    std::mt19937_64 dice(1);
    w.settle(dice);
    w.check_end();
    int levels = 0;
    while (1 << levels < ranks) ++levels;
    // plus hello, reached, stop, stopped and finish, once per rank
    CHECK(w.messages() == static_cast<std::uint64_t>(ranks * (levels + 5)));
  }
}

TEST_CASE("small problems in every order of events", "[exhaustive]") {
  struct small {
    char const* name;
    int ranks;
    placement from, to;
    int items, deaths, suspicions;
    std::uint64_t ticks;
    std::optional<skel::role::group_work> poison{};
  };
  std::vector<small> const all{
      {"2 ranks, hypercube, from the root", 2, placement::on_root, placement::everywhere, 4, 0, 0, 0},
      {"2 ranks, hypercube, a death, a tick", 2, placement::on_root, placement::everywhere, 4, 1, 0, 1},
      {"2 ranks, hypercube, a suspicion, 2 ticks", 2, placement::on_root, placement::everywhere, 4, 0, 1, 2},
      {"3 ranks, tree, a death", 3, placement::on_root, placement::on_root, 4, 1, 0, 0},
      {"3 ranks, hypercube, replicated", 3, placement::everywhere, placement::everywhere, 4, 0, 0, 0},
      {"3 ranks, hypercube, replicated, a death", 3, placement::everywhere, placement::everywhere, 4, 1, 0,
       0},
      {"4 ranks, tree", 4, placement::on_root, placement::on_root, 4, 0, 0, 0},
      {"4 ranks, embarrassing, a death", 4, placement::in_parts, placement::on_root, 4, 1, 0, 0},
      {"4 ranks, distributed, one problem only", 4, placement::on_root, placement::in_parts, 1, 0, 0, 0},
      {"3 ranks, tree, a poisonous leaf", 3, placement::on_root, placement::on_root, 4, 0, 0, 20, {{{1, 2}}}},
      {"2 ranks, hypercube, a poisonous leaf",
       2,
       placement::everywhere,
       placement::everywhere,
       4,
       0,
       0,
       4,
       {{{1, 2}}}},
  };
  bool const patient = std::getenv("SKEL_LONG") != nullptr;
  for (auto const& x : all) {
    divide_harness::scenario s;
    s.ranks = x.ranks;
    s.from = x.from;
    s.to = x.to;
    s.items = x.items;
    s.deaths = x.deaths;
    s.suspicions = x.suspicions;
    s.poison = x.poison;
    s.most_losses = x.poison ? 2 : 0;
    // A poisoned run needs many steps to reach its first end, so slow builds do not shorten it.
    std::uint64_t const usual = x.poison ? 30000 : test::fewer_if_slow(30000);
    auto const found = harness_common::explore(divide_harness::world(s), x.ticks, patient ? 5000000 : usual);
    found.print(x.name);
    CHECK(found.ends > 0);
  }
}
