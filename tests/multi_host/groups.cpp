// Tests the pure functions that form groups, deal out ranks, and choose the size of groups.
#include "multi_host/role/groups.hpp"

#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "multi_host/role/root.hpp"

namespace {

std::vector<double> alike(int n) { return std::vector<double>(static_cast<std::size_t>(n), 1.0); }

}  // namespace

TEST_CASE("every rank is in one group, every unit in one share, for all small numbers") {
  for (int ranks = 1; ranks <= 12; ++ranks)
    for (unsigned size = 1; size <= 13; ++size)
      for (std::uint64_t units = 0; units <= 20; ++units)
        for (bool const uneven : {false, true}) {
          auto power = alike(ranks);
          for (int r = 0; uneven && r < ranks; ++r) power[static_cast<std::size_t>(r)] = 0.25 + r % 4;
          auto const plan = skel::form_groups(power, size, 3, 3 + units);
          int next_rank = 0;
          std::uint64_t next_unit = 3;
          for (auto const& g : plan) {
            REQUIRE(g.first_rank == next_rank);
            REQUIRE(g.first_unit == next_unit);
            REQUIRE(g.ranks >= 1);
            REQUIRE(g.end_unit > g.first_unit);
            next_rank += g.ranks;
            next_unit = g.end_unit;
          }
          REQUIRE((units == 0 ? plan.empty() : next_rank == ranks));
          REQUIRE(next_unit == 3 + units);
          auto const groups = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ranks) / size);
          if (units > 0) REQUIRE(plan.size() == std::min(groups, units));
        }
}

TEST_CASE("groups of the paper's tables: ranks / 8, of 8 ranks, with shares that differ by one") {
  for (int const ranks : {8, 16, 32, 64, 128, 256}) {
    auto const plan = skel::form_groups(alike(ranks), 8, 0, 65);
    CHECK(plan.size() == static_cast<std::size_t>(ranks / 8));
    for (auto const& g : plan) {
      CHECK(g.ranks == 8);
      CHECK(g.end_unit - g.first_unit >= 65 / plan.size());
      CHECK(g.end_unit - g.first_unit <= 65 / plan.size() + 1);
    }
  }
}

TEST_CASE("unequal ranks form groups of about equal power, and shares follow") {
  std::vector<double> const power{4, 4, 1, 1, 1, 1, 1, 1, 1, 1};
  auto const plan = skel::form_groups(power, 5, 0, 64);
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].ranks == 2);
  CHECK(plan[1].ranks == 8);
  CHECK(plan[0].end_unit == 32);
  auto const three = skel::form_groups(std::vector<double>{3, 1}, 1, 0, 40);
  CHECK(three[0].end_unit == 30);
}

TEST_CASE("a root with a costly sink leads less, so that all ranks end together") {
  for (double const cost : {0.05, 0.1, 0.2})
    for (int ranks = 2; ranks <= 6; ++ranks) {
      constexpr std::uint64_t units = 6000;
      skel::role::group_root book({.ranks = ranks, .units = units, .sink_cost = cost});
      skel::role::group_actions actions;
      book.begin(actions);
      auto const share = [&](std::size_t g) {
        return static_cast<double>(book.plan()[g].end_unit - book.plan()[g].first_unit);
      };
      REQUIRE(book.plan().size() == static_cast<std::size_t>(ranks));
      CAPTURE(cost, ranks, share(0), share(1));
      double const sink = cost * static_cast<double>(units);
      if (sink < share(1))
        CHECK(std::abs(share(0) + sink - share(1)) <= 2);
      else
        CHECK(share(0) <= share(1) / 32);
    }
}

TEST_CASE("ranks are divided in proportion to the remaining work") {
  using list = std::vector<std::uint64_t>;
  CHECK(skel::proportional(8, list{1000, 3000}) == list{2, 6});
  CHECK(skel::proportional(8, list{0, 5, 0}) == list{0, 8, 0});
  CHECK(skel::proportional(5, list{0, 0}) == list{0, 0});
  CHECK(skel::proportional(1, list{500, 500}) == list{1, 0});
  for (std::uint64_t n = 0; n < 40; ++n)
    for (std::uint64_t a = 0; a < 7; ++a) {
      list const weights{a, 3, 2 * a, 1};
      auto const parts = skel::proportional(n, weights);
      auto const sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
      REQUIRE(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) == n);
      for (std::size_t i = 0; i < parts.size(); ++i) {  // at most one from the exact quota
        REQUIRE(parts[i] * sum + sum > n * weights[i]);
        REQUIRE(parts[i] * sum < n * weights[i] + sum);
      }
    }
}

TEST_CASE("a share gives up its end in proportion to power, and only if that pays") {
  CHECK(skel::units_to_let_go({.left = 20, .untouched = 18, .own_power = 1, .ranks = 1, .power = 1}) == 10);
  CHECK(skel::units_to_let_go({.left = 20, .untouched = 18, .own_power = 3, .ranks = 1, .power = 1}) == 5);
  CHECK(skel::units_to_let_go({.left = 20, .untouched = 18, .own_power = 0.001, .ranks = 1, .power = 9}) ==
        18);
  CHECK(skel::units_to_let_go({.left = 3.5, .untouched = 2, .own_power = 1, .ranks = 1, .power = 1}) == 1);
  // Too small to split, or too small for the number of ranks.
  CHECK(skel::units_to_let_go({.left = 3, .untouched = 1, .own_power = 1, .ranks = 1, .power = 1}) == 0);
  CHECK(skel::units_to_let_go({.left = 9, .untouched = 8, .own_power = 9, .ranks = 1, .power = 1}) == 0);
  CHECK(skel::units_to_let_go({.left = 9, .untouched = 8, .own_power = 8, .ranks = 8, .power = 8}) == 0);
  CHECK(skel::units_to_let_go({.left = 16, .untouched = 14, .own_power = 8, .ranks = 8, .power = 8}) == 8);
  CHECK(skel::units_to_let_go({.left = 0, .untouched = 0, .own_power = 1, .ranks = 0, .power = 0}) == 0);
}

// [Bajaj93, §7]: "Longer slaves' processing time or smaller I/O time means the optimal group size will be
// large."
TEST_CASE("the size of groups follows reading and processing") {
  // One long sequence and few ranks: each rank can read for itself.
  CHECK(skel::best_group_size({1, 10, 0.1}, 4, 1000, 1, true) == 1);
  // Fewer units than ranks: as many groups as units.
  CHECK(skel::best_group_size({0.1, 100, 0.1}, 64, 8, 1, true) >= 8);
  // A long history is expensive to read, so shares should be long.
  unsigned last = 0;
  for (unsigned const history : {0U, 3U, 10U, 30U}) {
    auto const size = skel::best_group_size({1, 100, 0.01}, 64, 128, history, true);
    CHECK(size >= last);
    last = size;
  }
  // A host that reads just in time for its group is the bottleneck of a larger one.
  for (double const read : {0.5, 1.0, 2.0}) {
    skel::unit_times const times{read, 16, 0.2};
    double const eight = skel::group_seconds(times, 256, 8, 65, 1, true);
    double const all = skel::group_seconds(times, 256, 256, 65, 1, true);
    CHECK(eight < all);
    CHECK(all >= 65 * read);  // table 1: more ranks do not help one host
  }
}
