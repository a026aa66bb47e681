// The three cases of the second phase of GDC [Lee97, §3], by name.
#include "protocol/ring_search.hpp"

#include "catch.hpp"

namespace {

using skel::role::rank_id;
using skel::role::ring_search;

ring_search search_of(rank_id self, int ranks,
                      skel::schedule::ring_order order = skel::schedule::ring_order::successors) {
  ring_search s(self, 0, ranks, order);
  s.begin();
  return s;
}

std::vector<rank_id> all_asked(ring_search s) {
  std::vector<rank_id> asked;
  while (auto const r = s.next()) {
    asked.push_back(*r);
    s.idle(*r);
  }
  return asked;
}

}  // namespace

TEST_CASE("an idle rank asks its successor first, then every other rank once") {
  CHECK(all_asked(search_of(3, 5)) == std::vector<rank_id>{4, 0, 1, 2});
  CHECK(all_asked(search_of(0, 2)) == std::vector<rank_id>{1});
  CHECK(all_asked(search_of(0, 1)).empty());
}

TEST_CASE("case 1: the successor works and lends; it is asked first next time") {
  auto s = search_of(0, 5);
  CHECK(s.next() == 1);
  s.works(1);
  s.begin();
  CHECK(s.next() == 1);
}

TEST_CASE(
    "case 2: the successor is idle; the thief asks the next unvisited rank and remembers the busy one") {
  auto s = search_of(0, 5);
  CHECK(s.next() == 1);
  s.idle(1);
  CHECK(s.next() == 2);
  s.idle(2);
  CHECK(s.next() == 3);
  s.works(3);
  s.begin();
  CHECK(s.next() == 3);  // skips the ranks in between
  s.idle(3);
  CHECK(s.next() == 1);  // rank 3 is idle now, so the search starts over
  CHECK_FALSE(s.knows_busy());
}

TEST_CASE("case 3: the successor is idle, but names a busy rank") {
  auto s = search_of(0, 6);
  CHECK(s.next() == 1);
  s.shortcut(1, 4);
  CHECK(s.next() == 4);
  s.idle(4);
  CHECK(s.next() == 2);  // then the unvisited ranks
  s.shortcut(2, 1);      // a shortcut to a visited rank is ignored
  CHECK(s.next() == 3);
  s.shortcut(3, 0);  // so is a shortcut to the thief itself
  CHECK(s.next() == 5);
  CHECK_FALSE(s.next());
}

TEST_CASE("lost ranks are skipped until they are heard again") {
  auto s = search_of(1, 4);
  s.lost(2);
  CHECK(all_asked(s) == std::vector<rank_id>{3, 0});
  s.works(3);
  s.lost(3);
  CHECK(all_asked(s) == std::vector<rank_id>{0});
  s.heard(2);
  CHECK(all_asked(s) == std::vector<rank_id>{2, 0});
}

TEST_CASE("other orders: predecessors, and doubling distances") {
  CHECK(all_asked(search_of(1, 5, skel::schedule::ring_order::predecessors)) ==
        std::vector<rank_id>{0, 4, 3, 2});
  CHECK(all_asked(search_of(6, 8, skel::schedule::ring_order::doubling)) == std::vector<rank_id>{7, 0, 2});
  CHECK(all_asked(search_of(0, 9, skel::schedule::ring_order::doubling)) == std::vector<rank_id>{1, 2, 4, 8});
}

TEST_CASE("doubling distances: the next rank that lives stands in for a lost one") {
  auto s = search_of(1, 4, skel::schedule::ring_order::doubling);
  CHECK(all_asked(s) == std::vector<rank_id>{2, 3});
  s.lost(2);
  CHECK(all_asked(s) == std::vector<rank_id>{3});
  s.lost(3);
  CHECK(all_asked(s) == std::vector<rank_id>{0});
  s.lost(0);
  CHECK(all_asked(s).empty());
}

TEST_CASE("a shortcut to an unknown rank is ignored") {
  auto s = search_of(0, 3);
  CHECK(s.next() == 1);
  s.shortcut(1, 77);
  CHECK(s.next() == 2);
}
