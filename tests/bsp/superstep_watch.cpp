// superstep_watch counts a loss against the superstep that the lost rank was computing.
#include "bsp/role/superstep_watch.hpp"

#include "catch.hpp"

using skel::role::blame_patience;
using skel::role::superstep_watch;

namespace {

// Starts an epoch at superstep `first`. All members have joined, and the root has begun `step`.
void begin(superstep_watch& w, std::vector<int> const& members, std::uint64_t first, std::uint64_t step) {
  w.begin(members, first);
  for (int const r : members) w.joined(r);
  for (auto s = first; s <= step; ++s) {
    w.begins(s);
    for (int const r : members)
      if (s < step) w.finished(r, s);
  }
}

// Loses three ranks in superstep 5, each in a separate epoch.
superstep_watch three_losses(unsigned max_losses = 3) {
  superstep_watch w(max_losses);
  begin(w, {0, 1, 2, 3, 4}, 0, 5);
  w.lost(4);
  begin(w, {0, 1, 2, 3}, 0, 5);
  w.lost(3);
  begin(w, {0, 1, 2}, 2, 5);
  w.lost(2);
  return w;
}

std::optional<superstep_watch::verdict> after(superstep_watch& w, unsigned ticks,
                                              std::vector<int> const& lost) {
  std::optional<superstep_watch::verdict> v;
  for (unsigned i = 0; i < ticks && !v; ++i) {
    for (int const r : lost) w.lost(r);
    v = w.tick();
  }
  return v;
}

}  // namespace

TEST_CASE("the third loss in a superstep blames it, after some ticks") {
  auto w = three_losses();
  CHECK(w.blames());
  CHECK_FALSE(after(w, blame_patience - 1, {2, 3, 4}));
  auto const v = after(w, 1, {2, 3, 4});
  REQUIRE(v);
  CHECK(v->work == 5);
  CHECK(v->ranks == std::vector{4, 3, 2});
}

TEST_CASE("as many losses as the limit blame a superstep, at least two; limit 0 never does") {
  for (unsigned const limit : {0U, 1U, 2U, 3U}) {
    INFO("limit " << limit);
    superstep_watch w(limit);
    begin(w, {0, 1, 2}, 0, 5);
    w.lost(2);
    CHECK_FALSE(w.blames());
    begin(w, {0, 1}, 0, 5);
    w.lost(1);
    CHECK(w.blames() == (limit == 1 || limit == 2));
  }
  CHECK_FALSE(three_losses(0).blames());
  CHECK_FALSE(three_losses(4).blames());
}

TEST_CASE("a rank that is heard again does not count") {
  auto w = three_losses();
  CHECK_FALSE(after(w, 1, {2, 3, 4}));
  CHECK_FALSE(after(w, 10 * blame_patience, {2, 4}));
  CHECK_FALSE(w.blames());
  CHECK(after(w, 2 * blame_patience, {2, 3, 4}));  // the rank is lost again
}

TEST_CASE("a superstep that all ranks finish is no longer suspect") {
  superstep_watch w;
  begin(w, {0, 1, 2, 3, 4}, 0, 5);
  w.lost(4);
  begin(w, {0, 1, 2, 3}, 0, 5);
  w.lost(3);
  begin(w, {0, 1, 2}, 0, 6);
  w.lost(2);
  begin(w, {0, 1}, 0, 5);
  w.lost(1);
  CHECK_FALSE(w.blames());
}

TEST_CASE("losses in an earlier superstep do not clear the count") {
  superstep_watch w;
  begin(w, {0, 1, 2, 3, 4, 5}, 0, 5);
  w.lost(5);
  begin(w, {0, 1, 2, 3, 4}, 0, 5);
  w.lost(4);
  begin(w, {0, 1, 2, 3}, 0, 3);
  w.lost(3);
  CHECK_FALSE(w.blames());
  begin(w, {0, 1, 2}, 0, 5);
  w.lost(2);
  CHECK(w.blames());
}

TEST_CASE("ranks that die together count once, whether noticed in one epoch or in several") {
  superstep_watch w;
  begin(w, {0, 1, 2, 3, 4}, 0, 5);
  for (int const r : {2, 3, 4}) w.lost(r);
  CHECK_FALSE(w.blames());
  w.begin({0, 1}, 0);  // rank 1 has not joined
  w.lost(1);
  w.begin({0}, 0);
  CHECK_FALSE(w.blames());
}

TEST_CASE("a rank that waits for others does not count") {
  superstep_watch w;
  for (int const last : {4, 3, 2}) {
    std::vector<int> members;
    for (int r = 0; r <= last; ++r) members.push_back(r);
    begin(w, members, 0, 5);
    w.finished(last, 5);
    w.lost(last);
  }
  CHECK_FALSE(w.blames());
}

TEST_CASE("making the state for a superstep counts as computing it") {
  superstep_watch w;
  for (int const last : {4, 3, 2}) {
    std::vector<int> members;
    for (int r = 0; r <= last; ++r) members.push_back(r);
    w.begin(members, last == 4 ? superstep_watch::superstep{} : superstep_watch::superstep{7});
    for (int const r : members) w.joined(r);
    if (last == 4) w.begins(7);
    w.lost(last);
  }
  CHECK(w.blames());
  CHECK(w.first() == 7);
}

TEST_CASE("restoring is blamed if no superstep is known yet") {
  superstep_watch w;
  for (int const last : {4, 3, 2}) {
    std::vector<int> members;
    for (int r = 0; r <= last; ++r) members.push_back(r);
    w.begin(members, {});
    for (int const r : members) w.joined(r);
    w.lost(last);
  }
  auto const v = after(w, blame_patience, {2, 3, 4});
  REQUIRE(v);
  CHECK_FALSE(v->work);
}
