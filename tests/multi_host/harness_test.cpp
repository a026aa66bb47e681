// Runs multi_host's protocol in random order, with every kind of failure, and small runs in every order.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "fewer.hpp"

namespace {

namespace group = skel::role::group;

// A scenario without failures.
group_harness::world settled(group_harness::scenario const& s) {
  group_harness::world w(s);
  std::mt19937_64 dice(s.seed);
  w.settle(dice);
  w.check_end();
  return w;
}

}  // namespace

TEST_CASE("every unit reaches the sink once in every order of events", "[random]") {
  harness_common::try_many("any", group_harness::random_scenario, 1, harness_common::runs_wanted(6000));
}

TEST_CASE("groups survive the death of any ranks but the root", "[deaths]") {
  harness_common::try_many("deaths", group_harness::death_scenario, 1000000007,
                           harness_common::runs_wanted(12000));
}

TEST_CASE("ranks retire from groups, and no piece is processed twice", "[retire]") {
  int left = 0;
  for (std::uint64_t seed = 1, runs = harness_common::runs_wanted(6000); seed <= runs; ++seed) {
    auto const s = group_harness::retirement_scenario(seed);
    INFO(s.describe());
    group_harness::world w(s);
    std::mt19937_64 dice(seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    w.settle(dice);
    w.check_end();
    left += w.left();
  }
  std::printf("%d ranks retire\n", left);
  CHECK(left > 100);
}

TEST_CASE("a piece or a unit that kills each rank that takes it is blamed", "[deaths]") {
  harness_common::try_many("deadly", group_harness::deadly_scenario, 3, harness_common::runs_wanted(8000));
  std::uint64_t pieces = 0, units = 0;
  auto const runs = test::fewer_if_slow(3000);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    auto const s = group_harness::deadly_scenario(seed);
    if (!s.last_words || s.deaths + s.suspicions > 0 || s.most_losses == 0) continue;
    (s.deadly_piece ? pieces : units) += group_harness::run(s).blamed ? 1 : 0;
  }
  std::printf("blamed for a piece in %llu of %llu runs, for a unit in %llu\n",
              static_cast<unsigned long long>(pieces), static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(units));
  CHECK(pieces > runs / 30);
  CHECK(units > runs / 30);
}

TEST_CASE("64 ranks, 16 deaths, 16 suspicions", "[random]") {
  for (auto const size : {0U, 1U, 4U, 8U, 64U}) {
    group_harness::scenario s;
    s.seed = 64;
    s.ranks = 64;
    s.units = 60;
    s.most_pieces = 8;
    s.group_size = size;
    s.deaths = 16;
    s.suspicions = 16;
    s.chaos = 4000;
    CHECK(group_harness::run(s).deaths > 0);
  }
}

TEST_CASE("small runs in every order of events", "[exhaustive]") {
  struct small {
    char const* name;
    int ranks;
    unsigned size;
    std::uint64_t units, pieces;
    bool preloads;
    int deaths, suspicions;
    std::uint64_t ticks;
  };
  std::vector<small> const all{
      {"2 ranks, a group", 2, 2, 2, 2, false, 0, 0, 0},
      {"2 ranks, 2 groups", 2, 1, 3, 1, false, 0, 0, 0},
      {"2 ranks, 2 groups, a death", 2, 1, 2, 1, false, 1, 0, 1},
      {"2 ranks, a group, a suspicion", 2, 2, 2, 1, false, 0, 1, 2},
      {"2 ranks, 2 groups, preloaded, a death", 2, 1, 2, 1, true, 1, 0, 0},
      {"3 ranks, a group, a death", 3, 3, 2, 2, false, 1, 0, 0},
      {"3 ranks, 3 groups", 3, 1, 3, 1, false, 0, 0, 0},
      {"2 ranks, 2 groups, a share splits", 2, 1, 6, 0, false, 0, 0, 0},
      {"2 ranks, 2 groups, a share splits, a death", 2, 1, 6, 0, false, 1, 0, 1},
      {"3 ranks, size unknown", 3, 0, 3, 1, false, 0, 0, 0},
      {"4 ranks, 2 groups", 4, 2, 2, 1, false, 0, 0, 0},
      {"4 ranks, 2 groups, a death", 4, 2, 2, 1, false, 1, 0, 0},
  };
  bool const patient = std::getenv("SKEL_LONG") != nullptr;
  for (auto const& x : all) {
    group_harness::scenario s;
    s.ranks = x.ranks;
    s.group_size = x.size;
    s.units = x.units;
    s.most_pieces = x.pieces;
    s.preloads = x.preloads;
    s.deaths = x.deaths;
    s.suspicions = x.suspicions;
    auto const found = harness_common::explore(group_harness::world(s), x.ticks,
                                               patient ? 5000000 : test::fewer_if_slow(40000));
    found.print(x.name);
    CHECK(found.ends > 0);
  }
}

TEST_CASE("groups read each unit once, and idle ranks move to other groups") {
  group_harness::scenario s;
  s.ranks = 8;
  s.units = 32;
  s.most_pieces = 6;
  s.group_size = 2;
  auto const four = settled(s);
  CHECK(four.reads() == 32);  // no unit is read twice; the job itself reads the history
  CHECK(four.messages_of<group::unit_done>() == 32);
  CHECK(four.messages_of<group::lead>() == 4 + four.split());
  CHECK(four.reassigned() > 0);
  s.reassigns = false;
  CHECK(settled(s).reassigned() == 0);
  s.group_size = 1;
  auto const alone = settled(s);  // the symmetric partition: no rank hands pieces to another
  CHECK(alone.messages_of<group::lead>() == 8);
  s.group_size = 8;
  CHECK(settled(s).messages_of<group::lead>() == 1);
}

TEST_CASE("idle ranks take over the end of a share, and read it once") {
  group_harness::scenario s;
  s.units = 24;
  s.most_pieces = 4;
  s.group_size = 1;
  std::uint64_t split = 0;
  for (s.seed = 1; s.seed <= 40; ++s.seed)
    for (s.ranks = 2; s.ranks <= 6; ++s.ranks) {
      auto const w = settled(s);
      CHECK(w.reads() == s.units);
      CHECK(w.messages_of<group::lead>() == static_cast<std::uint64_t>(s.ranks) + w.split());
      CHECK(w.messages_of<group::split>() >=
            w.messages_of<group::let_go>());  // some groups end before they answer
      CHECK(w.messages_of<group::let_go>() >= w.split());
      split += w.split();
    }
  CHECK(split > 10);
  s.splits = false;  // the paper's measure only
  auto const paper = settled(s);
  CHECK(paper.messages_of<group::split>() == 0);
  CHECK(paper.messages_of<group::lead>() == static_cast<std::uint64_t>(s.ranks));
}
