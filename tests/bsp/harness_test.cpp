// Runs bsp's protocol with events in random order and every kind of failure, then small cases in every order.
#include "harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "fewer.hpp"

namespace {

namespace bsp = skel::role::bsp;

// Runs the scenario to its end without random failures.
bsp_harness::world settled(bsp_harness::scenario const& s) {
  bsp_harness::world w(s);
  std::mt19937_64 dice(s.seed);
  w.settle(dice);
  w.check_end();
  return w;
}

// Runs the scenario with a fixed priority of events: messages and jobs first, then losses, ticks last.
bsp_harness::world slowly_noticed(bsp_harness::scenario const& s) {
  bsp_harness::world w(s);
  std::mt19937_64 dice(s.seed);
  auto const rank_of = [](bsp_harness::event const& e) {
    return e.what == bsp_harness::event::kind::tick ? 2 : e.what == bsp_harness::event::kind::detect ? 1 : 0;
  };
  for (int left = 100000; !w.ended(); --left) {
    auto all = w.possible(~0ULL);
    bsp_harness::require(left > 0 && !all.empty(), "the run is stuck");
    std::ranges::shuffle(all, dice);
    w.apply(*std::ranges::min_element(all, {}, rank_of));
  }
  w.check_end();
  return w;
}

}  // namespace

TEST_CASE("the result equals a sequential program's in every order of events", "[random]") {
  harness_common::try_many("any", bsp_harness::random_scenario, 1, harness_common::runs_wanted(4000));
}

TEST_CASE("supersteps survive the death of any ranks but the root", "[deaths]") {
  harness_common::try_many("deaths", bsp_harness::death_scenario, 1000000007,
                           harness_common::runs_wanted(8000));
}

TEST_CASE("jobs resume from the store after a whole job is killed", "[reruns]") {
  harness_common::try_many("reruns", bsp_harness::rerun_scenario, 2000000011,
                           harness_common::runs_wanted(6000));
}

TEST_CASE("ranks that retire repeat hardly any superstep", "[retire]") {
  std::uint64_t left = 0, again = 0;
  for (std::uint64_t seed = 1, runs = harness_common::runs_wanted(6000); seed <= runs; ++seed) {
    auto const s = bsp_harness::retirement_scenario(seed);
    INFO(s.describe());
    bsp_harness::world w(s);
    std::mt19937_64 dice(seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    w.settle(dice);
    w.check_end();
    left += w.left();
    again += w.again();
  }
  std::printf("%llu ranks retire, %llu epochs for them\n", static_cast<unsigned long long>(left),
              static_cast<unsigned long long>(again));
  CHECK(left > 100);
}

TEST_CASE("killed jobs do commit, resume, fall back and refuse") {
  std::uint64_t resumed = 0, commits = 0, fallen_back = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    auto const s = bsp_harness::rerun_scenario(seed);
    bsp_harness::world w(s);
    std::mt19937_64 dice(seed);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) w.step(dice);
    w.settle(dice);
    w.check_end();
    resumed += w.resumed();
    commits += w.commits();
    fallen_back += w.fallen_back();
    refused += w.refused() ? 1 : 0;
  }
  CHECK(resumed > 100);
  CHECK(commits > 100);
  CHECK(fallen_back > 5);
  CHECK(refused > 5);
}

TEST_CASE("a deadly superstep is blamed after it has killed three ranks", "[poison]") {
  std::uint64_t blamed = 0;
  harness_common::try_many(
      "poison",
      [&](auto seed) {
        auto const s = bsp_harness::poison_scenario(seed);
        auto const sum = bsp_harness::run(s);
        blamed += sum.blamed ? 1 : 0;
        return sum;
      },
      3000000019, harness_common::runs_wanted(4000));
  CHECK(blamed > 0);
}

TEST_CASE("a deadly superstep kills no fourth rank and never the root", "[poison]") {
  for (int ranks = 4; ranks <= 9; ++ranks)
    for (std::uint64_t const poison :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, bsp_harness::scenario::restoring})
      for (std::uint64_t const every : {0, 1, 2, 10, 11, 12}) {
        bsp_harness::scenario s;
        s.neighbours = every >= 10;
        if (s.neighbours) s.sends = bsp_harness::pattern::ring;
        INFO(ranks << " ranks, superstep " << poison << ", a checkpoint every " << every % 10
                   << (s.neighbours ? ", neighbours" : ""));
        s.ranks = ranks;
        s.cells = 10;
        s.rounds = 4;
        s.every = every % 10;
        s.poison = poison;
        auto const w = slowly_noticed(s);
        CHECK(w.blamed());
        CHECK(w.poisoned() == 3);
        if (poison != bsp_harness::scenario::restoring) CHECK(w.blamed_superstep() == poison);
      }
}

TEST_CASE("32 ranks, 12 deaths, 12 suspicions", "[random]") {
  for (bool const splits : {false, true}) {
    bsp_harness::scenario s;
    s.seed = 32;
    s.ranks = 32;
    s.cells = 100;
    s.rounds = 4;
    s.splits = splits;
    s.every = splits ? 1 : 0;
    s.deaths = 12;
    s.suspicions = 12;
    s.max_losses = 0;
    s.chaos = 8000;
    CHECK(bsp_harness::run(s).deaths > 0);
  }
}

TEST_CASE("small jobs in every order of events", "[exhaustive]") {
  struct small {
    char const* name;
    int ranks;
    std::uint64_t rounds, every;
    bool splits;
    int full_disks, lost_commits, damages, reruns, deaths, suspicions;
    std::uint64_t ticks;
    bsp_harness::pattern sends = bsp_harness::pattern::all;
    bool neighbours = false;
    int retirements = 0;
  };
  std::vector<small> const all{
      {"1 rank, checkpoints, another job", 1, 1, 1, true, 0, 0, 0, 1, 0, 0, 0},
      {"1 rank, a full disk, a damaged part, another job", 1, 1, 1, false, 1, 0, 1, 1, 0, 0, 0},
      {"2 ranks", 2, 1, 0, true, 0, 0, 0, 0, 0, 0, 0},
      {"2 ranks, a death", 2, 1, 0, false, 0, 0, 0, 0, 1, 0, 0},
      {"2 ranks, a suspicion, 2 ticks", 2, 1, 0, true, 0, 0, 0, 0, 0, 1, 2},
      {"2 ranks, checkpoints, a death", 2, 1, 1, true, 0, 0, 0, 0, 1, 0, 0},
      {"2 ranks, checkpoints that cannot be split, a death", 2, 1, 1, false, 0, 0, 0, 0, 1, 0, 0},
      {"2 ranks, checkpoints, a suspicion, 9 ticks", 2, 1, 1, true, 0, 0, 0, 0, 0, 1, 9},
      {"2 ranks, checkpoints, a full disk, a lost commit", 2, 1, 1, true, 1, 1, 0, 0, 0, 0, 0},
      {"2 ranks, checkpoints, another job", 2, 1, 1, true, 0, 0, 0, 1, 0, 0, 0},
      {"2 ranks, checkpoints, a lost commit, a damaged part, another job", 2, 1, 1, true, 0, 1, 1, 1, 0, 0,
       0},
      {"3 ranks", 3, 1, 0, true, 0, 0, 0, 0, 0, 0, 0},
      {"3 ranks, a death", 3, 1, 0, true, 0, 0, 0, 0, 1, 0, 0},
      {"3 ranks, checkpoints, a death", 3, 1, 2, true, 0, 0, 0, 0, 1, 0, 0},
      {"3 ranks, checkpoints, another job", 3, 1, 2, true, 0, 0, 0, 1, 0, 0, 0},
      {"3 ranks, a ring", 3, 1, 0, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::ring},
      {"4 ranks, a changing pattern", 4, 2, 0, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::changing},
      {"5 ranks, a ring, a death", 5, 1, 0, true, 0, 0, 0, 0, 1, 0, 0, bsp_harness::pattern::ring},
      {"1 rank without neighbours, checkpoints", 1, 2, 1, true, 0, 0, 0, 0, 0, 0, 0,
       bsp_harness::pattern::ring, true},
      {"2 neighbours, checkpoints", 2, 2, 2, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::ring, true},
      {"3 neighbours", 3, 2, 0, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::ring, true},
      {"3 neighbours, checkpoints, a death", 3, 1, 2, true, 0, 0, 0, 0, 1, 0, 0, bsp_harness::pattern::ring,
       true},
      {"4 neighbours, a changing pattern", 4, 2, 0, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::changing,
       true},
      {"2 ranks, checkpoints, a rank retires", 2, 2, 2, true, 0, 0, 0, 0, 0, 0, 0, bsp_harness::pattern::all,
       false, 1},
      {"3 ranks, checkpoints, a rank retires, or not", 3, 1, 9, true, 0, 0, 0, 0, 0, 0, 0,
       bsp_harness::pattern::ring, false, 2},
      {"2 ranks, checkpoints, a lost commit, a rank retires", 2, 2, 9, true, 0, 1, 0, 0, 0, 0, 0,
       bsp_harness::pattern::all, false, 1},
      {"3 neighbours, checkpoints, a rank retires", 3, 2, 9, true, 0, 0, 0, 0, 0, 0, 0,
       bsp_harness::pattern::ring, true, 1},
  };
  bool const patient = std::getenv("SKEL_LONG") != nullptr;
  for (auto const& x : all) {
    bsp_harness::scenario s;
    s.ranks = x.ranks;
    s.rounds = x.rounds;
    s.sends = x.sends;
    s.neighbours = x.neighbours;
    s.cells = std::max(3, x.ranks);
    s.every = x.every;
    s.splits = x.splits;
    s.full_disks = x.full_disks;
    s.lost_commits = x.lost_commits;
    s.damages = x.damages;
    s.reruns = x.reruns;
    s.deaths = x.deaths;
    s.suspicions = x.suspicions;
    s.retirements = x.retirements;
    auto const found = harness_common::explore(bsp_harness::world(s), x.ticks,
                                               patient ? 5000000 : test::fewer_if_slow(30000));
    found.print(x.name);
    CHECK(found.ends > 0);
  }
}

TEST_CASE("a superstep costs a barrier and one message per pair with messages, a checkpoint one per rank") {
  bsp_harness::scenario s;
  for (s.ranks = 1; s.ranks <= 8; ++s.ranks)
    for (auto const sends : {bsp_harness::pattern::all, bsp_harness::pattern::ring}) {
      s.sends = sends;
      s.cells = s.ranks;
      s.every = 0;
      auto const ranks = static_cast<std::uint64_t>(s.ranks);
      INFO(ranks << " ranks");
      auto const rounds = skel::role::superstep_end::rounds(static_cast<std::size_t>(ranks));
      auto const tallies = (s.rounds + 2) * ranks * rounds;
      // Messages for the next rank travel with a tally. In a ring only the last superstep has others: all
      // but the root and its predecessor send their cells to the root.
      auto const bundles = ranks < 3                             ? 0
                           : sends == bsp_harness::pattern::ring ? ranks - 2
                                                                 : (s.rounds + 1) * ranks * (ranks - 2);
      auto const plain = settled(s);
      // The root ends the call when it has its tallies of the last superstep; others may still wait for
      // theirs.
      auto const sent = plain.messages_of<bsp::tally>();
      CHECK(sent <= tallies);
      CHECK(sent + (ranks > 2 ? (ranks - 1) * (rounds - 1) : 0) >= tallies);
      CHECK(plain.messages_of<bsp::bundle>() == bundles);
      // plus hello, restart, stop, stopped and finish once per rank, and joined once per rank except the root
      CHECK(plain.messages() == sent + bundles + 6 * ranks - 1);
      s.every = s.rounds + 2;
      CHECK(settled(s).messages_of<bsp::saved>() ==
            0);  // a checkpoint due in the last superstep is not taken
      s.every = s.rounds + 1;
      CHECK(settled(s).messages() <= tallies + bundles + 7 * ranks);
    }
}

TEST_CASE("neighbours exchange bundles only, and the root is asked once, at the end") {
  bsp_harness::scenario s;
  s.neighbours = true;
  s.sends = bsp_harness::pattern::ring;
  s.all_continue = true;
  s.rounds = 20;
  for (s.ranks = 1; s.ranks <= 8; ++s.ranks) {
    s.cells = s.ranks;
    auto const ranks = static_cast<std::uint64_t>(s.ranks);
    std::uint64_t links = 0;
    bsp_harness::world const w = settled(s);
    for (std::uint32_t place = 0; place < ranks; ++place)
      links += w.neighbours_of(place, static_cast<std::uint32_t>(ranks)).size();
    INFO(ranks << " ranks, " << links << " links");
    auto const rounds = skel::role::superstep_end::rounds(static_cast<std::size_t>(ranks));
    CHECK(w.messages_of<bsp::tally>() == ranks * rounds);  // in the first superstep
    CHECK(w.messages_of<bsp::bundle>() >= links * (s.rounds + 1));
    CHECK(w.messages_of<bsp::bundle>() <= links * (s.rounds + 2));
    CHECK(w.messages_of<bsp::idle>() == ranks);
    CHECK(w.messages_of<bsp::goes_on>() == 0);
  }
}
