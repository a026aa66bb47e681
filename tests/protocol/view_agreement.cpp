// Ranks that have lost their root agree on going on without it, and with spare ranks, while messages are lost
// and late, ranks are suspected wrongly, and others end.
#include "protocol/view_agreement.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"

using namespace skel::role;

namespace {

constexpr unsigned patience = 3;

struct letter {
  rank_id from, to;
  views::message what;
};

// The ranks of a view, and spare ones behind them. A fault changes messages, or drops them by returning
// false.
class world {
 public:
  world(int ranks, std::uint32_t seed, std::function<bool(letter&)> fault = {}, int spares = 0)
      : dice_(seed), fault_(std::move(fault)), ended_(static_cast<std::size_t>(ranks + spares)) {
    std::vector<rank_id> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    spare_ranks waiting{{}, spares > 0 ? all.size() : 0};
    for (rank_id r = ranks; r < ranks + spares; ++r) waiting.ranks.push_back(r);
    for (rank_id r = 0; r < ranks + spares; ++r) ranks_.emplace_back(view{7, all}, r, patience, waiting);
  }

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] bool lives(int r) const { return !ended_[at(r)]; }
  [[nodiscard]] view_agreement const& operator[](int r) const { return ranks_[at(r)]; }
  [[nodiscard]] unsigned draw(unsigned below) { return static_cast<unsigned>(dice_() % below); }

  void end(int r) { ended_[at(r)] = true; }
  void suspect(int by, int of, bool certain) {
    if (by == of || !lives(by)) return;
    view_messages out;
    ranks_[at(by)].lost(of, certain, out);
    send(by, out);
  }
  void hear(int by, int of) { ranks_[at(by)].heard(of); }
  void tick(int r) {
    if (!lives(r)) return;
    view_messages out;
    ranks_[at(r)].tick(out);
    send(r, out);
  }
  void renew() {
    if (!lives(0)) return;
    view_messages out;
    ranks_[0].renew(out);
    send(0, out);
  }
  // Any message may be the next: each is lost, doubled or delivered.
  void deliver(unsigned lost_of_100) {
    if (letters_.empty()) return;
    auto const i = draw(static_cast<unsigned>(letters_.size()));
    auto l = letters_[i];
    bool const again = draw(20) == 0;
    if (!again) letters_.erase(letters_.begin() + i);
    if (draw(100) < lost_of_100 || !lives(l.to)) return;
    view_messages out;
    ranks_[at(l.to)].on(l.from, l.what, out);
    send(l.to, out);
  }
  [[nodiscard]] bool empty() const { return letters_.empty(); }

  // No two ranks that live have decided on different sets, and none on one with the root, unless this has
  // asked for it. (The set of ranks that have ended may be another one, if no rank that is left had heard of
  // it.)
  [[nodiscard]] bool agrees(bool renewed) const {
    std::set<std::vector<rank_id>> all;
    for (int r = 0; r < size(); ++r)
      if (auto const next = (*this)[r].next(); next && lives(r)) all.insert(next->members);
    if (all.empty()) return true;
    auto const& one = *all.begin();
    return all.size() == 1 && !one.empty() && std::ranges::is_sorted(one) && (renewed || one.front() != 0);
  }

 private:
  static std::size_t at(int r) { return static_cast<std::size_t>(r); }
  void send(int from, view_messages const& out) {
    for (auto const& m : out) {
      letter l{from, m.to, m.what};
      if (!fault_ || fault_(l)) letters_.push_back(l);
    }
  }

  std::mt19937 dice_;
  std::function<bool(letter&)> fault_;
  std::vector<view_agreement> ranks_;
  std::vector<bool> ended_;
  std::vector<letter> letters_;
};

// Anything may happen. Afterwards the ranks that live hear each other again, and have lost the root if it has
// ended. Returns whether what must hold did.
bool survives(std::uint32_t seed, std::function<bool(letter&)> const& fault = {}) {
  std::mt19937 dice(seed);
  int const n = 2 + static_cast<int>(dice() % 6);
  int const spares = static_cast<int>(dice() % 3);
  world w(n, seed, fault, spares);
  auto const rank = [&] { return static_cast<int>(w.draw(static_cast<unsigned>(n))); };
  std::set<int> certain;
  bool renewed = false;
  for (int step = 0; step < 150; ++step) {
    switch (w.draw(13)) {
      case 0: {  // one draw after the other: compilers differ in the order of arguments
        int const of = w.draw(2) == 0 ? 0 : rank();
        w.suspect(rank(), of, false);
        break;
      }
      case 1: {
        int const of = rank();
        w.hear(rank(), of);
        break;
      }
      case 2:
        if (int const r = w.draw(2) == 0 ? 0 : rank(); w.draw(6) == 0) {
          w.end(r);
          certain.insert(r);
        }
        break;
      case 3:  // its end is seen
        for (int const r : certain)
          if (w.draw(3) == 0) w.suspect(rank(), r, true);
        break;
      case 4:
        w.tick(rank());
        break;
      case 5:
        if (spares > 0 && w.draw(4) == 0) {
          w.renew();
          renewed = true;
        }
        break;
      default:
        w.deliver(10);
    }
    if (!w.agrees(renewed)) return false;
  }
  bool decided = false;
  for (int r = 0; r < n; ++r) decided = decided || w[r].next().has_value();
  if (w.lives(0) && !decided) return true;  // the root may be back
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      w.lives(b) && (b != 0 || !certain.contains(0)) ? w.hear(a, b) : w.suspect(a, b, true);
  for (int a = 0; a < n; ++a) w.suspect(a, 0, !w.lives(0));
  for (int round = 0; round < 200; ++round) {
    for (int r = 0; r < n; ++r) w.tick(r);
    for (int k = 0; k < 100 && !w.empty(); ++k) w.deliver(0);
    if (!w.agrees(renewed)) return false;
  }
  int left = 0;
  for (int r = 1; r < n; ++r) left += w.lives(r);
  if (w.lives(0) && 2 * left <= n) return true;  // too few, if no others had decided before they ended
  for (int r = 1; r < n; ++r)
    if (w.lives(r) && !w[r].next()) return false;
  return true;
}

std::optional<std::uint32_t> first_failure(std::uint32_t seeds,
                                           std::function<bool(letter&)> const& fault = {}) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    if (!survives(seed, fault)) return seed;
  return std::nullopt;
}

}  // namespace

TEST_CASE("survivors agree on one set, whatever is lost, late, suspected or ends") {
  CHECK(first_failure(20000) == std::nullopt);
}

TEST_CASE("faults of the agreement are found") {
  auto const without = []<class M>(std::type_identity<M>, auto change) {
    return [change](letter& l) {
      auto* const m = std::get_if<M>(&l.what);
      return m == nullptr || change(l, *m);
    };
  };
  auto const lose = [](letter&, auto&) { return false; };
  CHECK(first_failure(20000, without(std::type_identity<views::prepare>{}, lose)));
  CHECK(first_failure(20000, without(std::type_identity<views::promise>{}, lose)));
  CHECK(first_failure(20000, without(std::type_identity<views::accept>{}, lose)));
  CHECK(first_failure(20000, without(std::type_identity<views::decided>{}, lose)));
  CHECK(first_failure(20000, without(std::type_identity<views::promise>{}, [](letter&, views::promise& m) {
                        m.latest = {};  // a promise that hides what was accepted before
                        return true;
                      })));
  CHECK(first_failure(20000, without(std::type_identity<views::propose>{}, [](letter& l, views::propose& m) {
                        if (m.members.size() > 1)
                          m.members.erase(m.members.begin() + l.to % 2);  // not the same for all
                        return true;
                      })));
}

TEST_CASE("spare ranks stand in for the root, and for other ranks if the root asks") {
  auto const calm = [](world& w) {
    for (int round = 0; round < 50; ++round) {
      for (int r = 0; r < w.size(); ++r) w.tick(r);
      for (int k = 0; k < 50; ++k) w.deliver(0);
    }
  };
  using set = std::vector<rank_id>;
  for (int const dead_spare : {0, 4, 5}) {
    world w(4, 1, {}, 2);
    for (int const r : {0, dead_spare}) w.end(r);
    for (int r = 1; r < 4; ++r) w.suspect(r, 0, true);
    calm(w);
    set const next = w[1].next().value_or(view{}).members;
    REQUIRE(next.size() == 4);
    CHECK(std::equal(next.begin(), next.end() - 1, set{1, 2, 3}.begin()));
    CHECK(next.back() != dead_spare);
    for (int r = 2; r < 6; ++r)
      if (w.lives(r)) CHECK(w[r].next().value_or(view{}).members == next);
  }
  for (int const lost : {1, 3}) {
    world w(4, 1, {}, 2);
    w.end(lost);
    w.suspect(0, lost, true);
    calm(w);
    CHECK_FALSE(w[0].next());
    w.renew();
    CHECK(w[0].renews());
    calm(w);
    set const left = lost == 1 ? set{0, 2, 3} : set{0, 1, 2}, next = w[0].next().value_or(view{}).members;
    REQUIRE(next.size() == 4);
    CHECK(std::equal(left.begin(), left.end(), next.begin()));
    for (int r = 1; r < 6; ++r)
      if (w.lives(r)) CHECK(w[r].next().value_or(view{}).members == next);
  }
  {  // no spare rank is left: the root goes on as before
    world w(4, 1, {}, 1);
    for (int const r : {1, 4}) w.end(r);
    w.suspect(0, 1, true);
    w.renew();
    calm(w);
    for (int r = 0; r < 4; ++r) CHECK_FALSE(w[r].next());
    CHECK_FALSE(w[0].renews());
    w.end(0);  // the others have promised it something
    for (int const r : {2, 3})
      for (int const gone : {0, 1}) w.suspect(r, gone, true);
    calm(w);
    CHECK(w[2].next().value_or(view{}).members == set{2, 3});
  }
}

TEST_CASE("the root's certain end is enough for one of two ranks") {
  view_agreement last({1, {0, 1}}, 1, patience);
  view_messages out;
  last.lost(0, false, out);
  CHECK(last.is_minority());
  for (int i = 0; i < 50; ++i) last.tick(out);
  CHECK(!last.next());
  last.lost(0, true, out);
  CHECK(!last.is_minority());
  last.tick(out);
  REQUIRE(last.next());
  CHECK(last.next()->number == 2);
  CHECK(last.next()->members == std::vector<rank_id>{1});
}

TEST_CASE("a silent root waits for a rank that may have gone on with another one's vote") {
  for (bool const was_silent : {false, true}) {
    CAPTURE(was_silent);
    view_agreement root({1, {0, 1, 2}}, 0, patience);
    view_messages out;
    if (was_silent) root.lost(1, false, out);
    root.lost(2, false, out);
    CHECK(root.may_be_left() == was_silent);
    root.lost(1, true, out);
    CHECK(root.may_be_left() == was_silent);
    root.lost(2, true, out);  // none is left that could have gone on
    CHECK_FALSE(root.may_be_left());
  }
}

TEST_CASE("half of the ranks cannot go on, one more can") {
  for (int const left : {3, 2}) {
    world w(5, 1);
    for (int r = 5 - left; r < 5; ++r)
      for (int gone = 0; gone < 5 - left; ++gone) w.suspect(r, gone, false);
    for (int round = 0; round < 50; ++round) {
      for (int r = 5 - left; r < 5; ++r) w.tick(r);
      for (int k = 0; k < 20; ++k) w.deliver(0);
    }
    CHECK(w[4].next().has_value() == (left == 3));
  }
}
