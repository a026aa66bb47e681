// The failure detector: which ranks it greets, which it declares lost, and which silences it excuses.
#include "engine/detector.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "catch.hpp"
#include "engine/running_time.hpp"

using skel::detail::detector;

namespace {
std::set<int> const none;
}

TEST_CASE("the root watches all ranks; the others watch the root") {
  detector root(0, 4, 2, true, 0);
  CHECK(root.beat(0.25, none).greet == std::vector<int>{1, 2, 3});
  detector other(2, 4, 2, true, 0);
  CHECK(other.beat(0.25, none).greet == std::vector<int>{0});
}

TEST_CASE("many ranks take turns: each is greeted once per interval, few at once") {
  detector root(0, 1000, 2, true, 0);
  std::vector<int> greeted;
  for (double t = 0; t < 0.25 - 1e-9;) {
    t = root.next_beat();
    CHECK(root.due(t + 1e-9));
    auto const found = root.beat(t + 1e-9, none);
    auto const& now = found.greet;
    CHECK(now.size() <= 64);
    CHECK(found.round_ends == (t > 0.25 - 1e-9));
    greeted.insert(greeted.end(), now.begin(), now.end());
  }
  std::sort(greeted.begin(), greeted.end());
  std::vector<int> all(999);
  std::iota(all.begin(), all.end(), 1);
  CHECK(greeted == all);
}

TEST_CASE("a late beat makes up for the turns that were missed") {
  detector root(0, 1000, 2, true, 0);
  CHECK(root.beat(0.25, none).greet.size() == 999);
  CHECK(root.beat(0.375, none).greet.size() < 600);
}

TEST_CASE("of many ranks, each silent one is noticed") {
  detector root(0, 300, 2, true, 0);
  std::set<int> silent;
  for (double t = 0.01; t < 3; t += 0.01) {
    for (int r = 1; r < 300; r += 2) root.heard(r);
    for (int const r : root.beat(t, silent).silent) {
      CHECK(t > 2);
      CHECK(t < 2.4);
      silent.insert(r);
    }
  }
  CHECK(silent.size() == 149);
  CHECK_FALSE(silent.contains(1));
}

TEST_CASE("the ranks beat at different times") {
  std::set<double> times;
  for (int r = 1; r < 100; ++r) {
    double const t = detector(r, 100, 2, true, 0).next_beat();
    CHECK(t >= 0);
    CHECK(t <= 0.25);
    times.insert(t);
  }
  CHECK(times.size() == 99);
}

TEST_CASE("silence is noticed after the time-out, not before") {
  detector d(0, 4, 2, true, 0);
  for (double t = 0.25; t <= 2.0; t += 0.25) {
    d.heard(1);
    d.heard(3);
    CHECK(d.beat(t, none).silent.empty());
  }
  d.heard(1);
  d.heard(3);
  CHECK(d.beat(2.25, none).silent == std::vector<int>{2});
  CHECK(d.beat(2.5, {2}).silent.empty());  // rank 2 is already lost
}

TEST_CASE("ranks that were sent a message and lost ranks are not greeted") {
  detector d(0, 4, 2, true, 0);
  d.sent(1);
  CHECK(d.beat(0.25, {2}).greet == std::vector<int>{3});
}

TEST_CASE("time while this process was stopped does not count as silence") {
  detector d(0, 2, 2, true, 0);
  d.heard(1);
  CHECK(d.beat(0.25, none).silent.empty());
  CHECK(d.beat(60.0, none).silent.empty());  // a gap as after SIGCONT
  double t = 60.25;
  while (d.beat(t, none).silent.empty() && t < 70) t += 0.25;
  CHECK(t > 61.0);
  CHECK(t < 62.5);
}

TEST_CASE("without heartbeats between runs, a rank is watched from its first message") {
  detector d(0, 3, 2, false, 0);
  for (double t = 0.25; t < 10; t += 0.25) CHECK(d.beat(t, none).silent.empty());
  d.heard(2);
  double t = 10;
  while (d.beat(t, none).silent.empty() && t < 20) t += 0.25;
  CHECK(t < 12.75);
  d.reset(t);  // the run is over
  for (double later = t + 0.25; later < t + 10; later += 0.25) CHECK(d.beat(later, none).silent.empty());
}

TEST_CASE("running_time excludes time while the process was stopped") {
  skel::detail::running_time ran(100, 0.25);
  CHECK(ran.look(100.25) == Approx(0.25));
  CHECK(ran.look(100.7) == Approx(0.7));  // slightly late
  CHECK(ran.look(700) == Approx(1.2));    // the process was stopped for ten minutes
  CHECK(ran.look(700.25) == Approx(1.45));
  double t = 700.25;
  while (ran.look(t) < 60) t += 0.25;
  CHECK(t == Approx(700.25 + 58.75));  // the limit is still reached
}

TEST_CASE("a time-out of zero disables the detector") {
  detector const d(0, 3, 0, true, 0);
  CHECK_FALSE(d.enabled());
  CHECK_FALSE(d.due(100));
}
