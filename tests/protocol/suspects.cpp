// Work that kills one rank after another is blamed; work that only ran at the same time is not.
#include "protocol/suspects.hpp"

#include "catch.hpp"

using skel::role::blame_patience;
using book = skel::role::suspects<int>;

namespace {

// Returns the verdict, if any, within `ticks` ticks.
std::optional<book::verdict> after(book& s, unsigned ticks = blame_patience) {
  std::optional<book::verdict> v;
  for (unsigned i = 0; i < ticks && !v; ++i) v = s.tick();
  return v;
}

}  // namespace

TEST_CASE("work is blamed some ticks after its second loss") {
  book s(2);
  s.add(7, 1, true);
  CHECK(s.next() == 7);
  CHECK_FALSE(after(s));
  s.given(7, 2);
  CHECK_FALSE(s.next());
  CHECK(s.holds_one(2));
  s.add(7, 2, true);
  CHECK(s.blames(7));
  CHECK_FALSE(s.next());  // the work goes to no third rank
  CHECK_FALSE(after(s, blame_patience - 1));
  auto const v = s.tick();
  REQUIRE(v);
  CHECK(v->work == 7);
  CHECK(v->ranks == std::vector{1, 2});
}

TEST_CASE("a loss from outside counts half") {
  book s(2);
  for (int const rank : {1, 2, 3, 4}) {
    CHECK_FALSE(after(s));
    s.from_outside(rank);
    s.add(7, rank, true);
    if (rank < 4) s.given(7, rank + 1);
  }
  CHECK(after(s)->ranks == std::vector{1, 2, 3, 4});
  s.heard(2);
  CHECK_FALSE(after(s));
  s.add(7, 2, true);  // lost again, now by itself
  CHECK(s.blames(7));
}

TEST_CASE("a rank that is heard again does not count") {
  book s(2);
  s.add(7, 1, true);
  s.given(7, 2);
  s.add(7, 2, true);
  s.heard(1);
  CHECK_FALSE(after(s));
  CHECK(s.next() == 7);
}

TEST_CASE("work with a result is not suspect") {
  book s(2);
  s.add(7, 1, true);
  CHECK(s.acquit(7));
  CHECK_FALSE(s.acquit(7));
  CHECK(s.empty());
}

TEST_CASE("losses of unwatched ranks only raise suspicion") {
  book s(2);
  s.add(7, 1, true);
  s.add(7, 2, true);  // the work ran there too, but not as a suspect
  CHECK_FALSE(after(s));
}

TEST_CASE("blame takes one more loss if the lost ranks also ran other work") {
  book s(2);
  s.add(7, 1, false);
  s.given(7, 2);
  s.add(7, 2, false);
  CHECK_FALSE(after(s));
  s.given(7, 3);
  s.add(7, 3, false);
  CHECK(after(s));
}

TEST_CASE("most_losses 1 blames a suspect after one loss, 0 never blames") {
  book strict(1), lenient(0);
  for (auto* s : {&strict, &lenient}) {
    s->add(7, 1, true);
    s->given(7, 2);
    s->add(7, 2, true);
  }
  CHECK(after(strict));
  CHECK_FALSE(after(lenient));
}

TEST_CASE("ranks that are lost again count again, and further blamed work is counted") {
  book s(2);
  for (int work : {7, 8}) {
    s.add(work, 1, true);
    s.given(work, 2);
    s.add(work, 2, true);
  }
  s.heard(1);
  CHECK_FALSE(after(s));
  s.lost(1);
  auto const v = after(s);
  REQUIRE(v);
  CHECK(v->work == 7);
  CHECK(v->more == 1);
}

TEST_CASE("a loss that is not repeated between two ticks has ended") {
  book s(2);
  s.add(7, 1, true);
  s.given(7, 2);
  s.add(7, 2, true);
  s.end_losses();
  CHECK(s.blames(7));
  s.lost(2);
  s.end_losses();
  CHECK_FALSE(s.blames(7));
}

TEST_CASE("of several blamed pieces, the one that ran alone most often is named") {
  book s(2);
  // 3 and 9 kill ranks; 1 ran beside them on three lost ranks.
  for (int const rank : {1, 2, 3}) {
    s.add(1, rank, false);
    s.given(1, rank + 1);
  }
  s.add(9, 4, true);
  s.given(9, 5);
  s.add(9, 5, true);
  CHECK(s.blames(1));
  CHECK(s.blames(9));
  auto const v = after(s);
  REQUIRE(v);
  CHECK(v->work == 9);
  CHECK(v->more == 1);
}

TEST_CASE("missing suspects are handed out again, suspects with a result are not") {
  book s(2);
  for (int work : {7, 8}) {
    s.add(work, 1, true);
    s.given(work, 2);
  }
  CHECK(s.not_held().empty());
  s.take_back_if([](int work) { return work == 8; });
  CHECK(s.not_held() == std::vector{8});
  CHECK(s.next() == 8);
  CHECK_FALSE(s.acquit_if([](int work) { return work == 9; }));
  CHECK(s.acquit_if([](int work) { return work == 8; }));
  CHECK_FALSE(s.next());
}
