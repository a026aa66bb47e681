// The barrier that ends a superstep: any number of members, in random orders of messages.
#include "bsp/role/superstep_end.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "catch.hpp"

namespace {

namespace bsp = skel::role::bsp;
using skel::role::superstep_end;

struct delivery {
  std::size_t from = 0, to = 0;
  bool is_bundle = false;
  bsp::tally tally{};
};

struct counts {
  std::size_t tallies = 0, notices = 0;
};

// Ends one superstep of these members; `bundles_to[p]`: the places to which p sends bundles. Places become
// ready and messages arrive in random order. Checks that no member ends the superstep before all are ready
// and its bundles are there, and that all learn `more` and `save`.
counts end_of(std::vector<std::vector<std::uint32_t>> const& bundles_to, std::mt19937& dice) {
  auto const members = bundles_to.size();
  std::vector<superstep_end> ends(members);
  std::vector<std::size_t> unready(members), expected(members);
  for (std::size_t p = 0; p < members; ++p) unready[p] = p;
  for (auto const& list : bundles_to)
    for (auto const to : list) ++expected[to];
  auto const one_with_more = dice() % members;
  auto missing = expected;
  std::vector<delivery> wires;
  counts n;
  auto const send_tallies = [&](std::size_t p) {
    while (auto t = ends[p].next(p, members)) {
      ++n.tallies;
      n.notices += t->notices.size();
      wires.push_back({p, superstep_end::partner(p, t->round, members), false, *std::move(t)});
    }
  };
  while (!unready.empty() || !wires.empty()) {
    auto const pick = dice() % (unready.size() + wires.size());
    if (pick < unready.size()) {
      auto const p = unready[pick];
      unready.erase(unready.begin() + static_cast<std::ptrdiff_t>(pick));
      ends[p].computed(p == one_with_more, p == 0 ? 7 : 0, bundles_to[p]);
      for (auto const to : bundles_to[p]) wires.push_back({p, to, true, {}});
      send_tallies(p);
    } else {
      std::swap(wires[pick - unready.size()], wires.back());
      auto const d = std::move(wires.back());
      wires.pop_back();
      if (d.is_bundle) {
        ends[d.to].received(static_cast<int>(d.from), bsp::bundle{});
        --missing[d.to];
      } else {
        ends[d.to].received(static_cast<int>(d.from), d.tally);
        send_tallies(d.to);
      }
    }
    for (std::size_t p = 0; p < members; ++p)
      if (ends[p].over(p, members)) {
        REQUIRE(unready.empty());
        REQUIRE(missing[p] == 0);
        REQUIRE(ends[p].more());
        REQUIRE(ends[p].save() == 7);
      }
  }
  for (std::size_t p = 0; p < members; ++p) REQUIRE(ends[p].over(p, members));
  return n;
}

}  // namespace

TEST_CASE("a superstep ends when all have finished and all bundles have arrived") {
  std::mt19937 dice(1);
  for (std::size_t members = 1; members <= 33; ++members)
    for (unsigned const share : {0U, 10U, 50U, 100U}) {  // percentage of all pairs
      INFO(members << " members, " << share << "% of pairs");
      std::vector<std::vector<std::uint32_t>> bundles_to(members);
      for (std::size_t from = 0; from < members; ++from)
        for (std::uint32_t to = 0; to < members; ++to)
          if (to != from && dice() % 100 < share) bundles_to[from].push_back(to);
      for (int i = 0; i < 3; ++i)
        CHECK(end_of(bundles_to, dice).tallies == members * superstep_end::rounds(members));
    }
}

TEST_CASE("notices for the same member are added up") {
  std::mt19937 dice(2);
  std::vector<std::vector<std::uint32_t>> to_first(64);
  for (std::size_t from = 1; from < 64; ++from) to_first[from].push_back(0);
  CHECK(end_of(to_first, dice).notices <= 63);  // not 63 * 3, the sum of all bits of the distances
}

TEST_CASE("the barrier has log P rounds") {
  CHECK(superstep_end::rounds(1) == 0);
  CHECK(superstep_end::rounds(2) == 1);
  CHECK(superstep_end::rounds(5) == 3);
  CHECK(superstep_end::rounds(64) == 6);
  CHECK(superstep_end::rounds(65) == 7);
}
