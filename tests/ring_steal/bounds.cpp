// How a bound spreads along the ring, without time or threads.
#include "ring_steal/role/bounds.hpp"

#include <set>
#include <vector>

#include "catch.hpp"

namespace {

namespace role = skel::role;
namespace steal = role::steal;

int log2_of(int n) {
  int steps = 0;
  while ((1 << steps) < n) ++steps;
  return steps;
}

struct ring {
  std::vector<role::bounds> ranks;
  std::set<role::rank_id> gone, unnoticed;  // lost ranks, and lost ranks of which no other rank has heard
  std::uint64_t messages = 0;

  explicit ring(int n) {
    for (int r = 0; r < n; ++r) ranks.emplace_back(r, n);
  }
  [[nodiscard]] bool lives(int rank) const { return !gone.contains(rank) && !unnoticed.contains(rank); }
  /// One step: all ranks with news pass them on. Returns whether any has sent a message.
  bool step() {
    std::vector<steal::send> sent;
    for (int r = 0; r < static_cast<int>(ranks.size()); ++r) {
      if (!lives(r)) continue;
      role::steal_actions out;
      ranks[static_cast<std::size_t>(r)].spread(gone, out);
      REQUIRE(static_cast<int>(out.size()) <= log2_of(static_cast<int>(ranks.size())));
      for (auto const& a : out) sent.push_back(std::get<steal::send>(a));
    }
    for (auto const& s : sent) {
      auto const m = std::get<steal::better>(s.what);
      REQUIRE(!gone.contains(s.to));
      if (lives(s.to)) ranks[static_cast<std::size_t>(s.to)].hear(m.bound, m.reach);
    }
    messages += sent.size();
    return !sent.empty();
  }
  int settle() {
    int steps = 0;
    while (step()) ++steps;
    return steps;
  }
  [[nodiscard]] int know(role::bound_key bound) const {
    int n = 0;
    for (int r = 0; r < static_cast<int>(ranks.size()); ++r)
      n += lives(r) && ranks[static_cast<std::size_t>(r)].best() == bound ? 1 : 0;
    return n;
  }
};

}  // namespace

TEST_CASE("a bound reaches n ranks with n - 1 messages in about log2 n steps") {
  for (int n : {1, 2, 3, 4, 5, 7, 8, 64, 100, 1000})
    for (int from : {0, n / 2, n - 1}) {
      ring all(n);
      all.ranks[static_cast<std::size_t>(from)].improve(7);
      int const steps = all.settle();
      INFO(n << " ranks, from " << from);
      CHECK(all.know(7) == n);
      CHECK(all.messages == static_cast<std::uint64_t>(n - 1));
      CHECK(steps <= log2_of(n) + 1);
    }
}

TEST_CASE("a worse bound changes nothing and sends nothing") {
  ring all(8);
  all.ranks[3].improve(7);
  all.settle();
  auto const before = all.messages;
  for (auto& r : all.ranks) r.improve(7);
  all.ranks[5].improve(6);
  all.settle();
  CHECK(all.messages == before);
  CHECK(all.know(7) == 8);
}

TEST_CASE("of several bounds at once the best one reaches every rank") {
  for (int n : {2, 5, 16, 33}) {
    ring all(n);
    for (int r = 0; r < n; ++r)
      all.ranks[static_cast<std::size_t>(r)].improve(1 + static_cast<std::uint64_t>(r * 7 % n));
    CHECK(all.settle() <= log2_of(n) + 1);
    CHECK(all.know(static_cast<std::uint64_t>(n)) == n);
  }
}

TEST_CASE("a bound reaches the living ranks past lost ones") {
  for (int n : {3, 8, 21})
    for (int lost = 1; lost < n; ++lost) {
      ring known(n);
      for (int r = 0; r < lost; ++r) known.gone.insert((r * 5 + 1) % (n - 1) + 1);
      known.ranks[0].improve(7);
      known.settle();
      CHECK(known.know(7) == n - static_cast<int>(known.gone.size()));
    }
}

TEST_CASE("ticks repair what an unnoticed loss has kept from the ranks behind it") {
  ring all(21);
  all.unnoticed = {5, 11, 16};
  all.ranks[0].improve(7);
  all.settle();
  CHECK(all.know(7) < 18);
  all.gone = all.unnoticed;
  for (int tick = 0; tick < 21; ++tick) {
    for (auto& r : all.ranks) r.tick(all.gone);
    all.settle();
  }
  CHECK(all.know(7) == 18);
  auto const before = all.messages;
  for (auto& r : all.ranks) r.tick(all.gone);
  CHECK(all.settle() == 0);  // no rank has anything to repeat
  CHECK(all.messages == before);
}
