// The failure detector: which ranks it greets, which it declares lost, and which silences it excuses.
#include "engine/detector.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
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

TEST_CASE("the root of many ranks takes turns, and greets only leaders and its block") {
  detector root(0, 10000, 2, true, 0);
  std::vector<int> greeted;
  for (double t = 0; t < 0.25 - 1e-9;) {
    t = root.next_beat();
    CHECK(root.due(t + 1e-9));
    auto const now = root.beat(t + 1e-9, none).greet;
    CHECK(now.size() <= 64);
    greeted.insert(greeted.end(), now.begin(), now.end());
  }
  std::sort(greeted.begin(), greeted.end());
  std::vector<int> expected(99);  // its block
  std::iota(expected.begin(), expected.end(), 1);
  for (int leader = 100; leader < 10000; leader += 100) expected.push_back(leader);
  CHECK(greeted == expected);
}

TEST_CASE("a late beat makes up for the turns that were missed") {
  detector root(0, 10000, 2, true, 0);
  CHECK(root.beat(0.25, none).greet.size() == 198);
  CHECK(root.beat(0.375, none).greet.size() < 160);
}

TEST_CASE("of many ranks, each silent one is noticed") {
  detector root(0, 120, 2, true, 0);
  std::set<int> silent;
  for (double t = 0.01; t < 3; t += 0.01) {
    for (int r = 1; r < 120; r += 2) root.heard(r);
    for (int const r : root.beat(t, silent).silent) {
      CHECK(t > 2);
      CHECK(t < 2.4);
      silent.insert(r);
    }
  }
  CHECK(silent.size() == 59);
  CHECK_FALSE(silent.contains(1));
}

namespace {

// Ranks that send heartbeats and reports as engines do, without delay. A dead rank does nothing.
struct crowd {
  std::vector<detector> ranks;
  std::vector<std::set<int>> lost;  // in each rank's view
  std::set<int> dead;
  std::set<std::pair<int, int>> cut;  // these cannot hear each other
  std::uint64_t sent_by_root = 0;
  double now = 0;

  crowd(int n, double patience) : lost(static_cast<std::size_t>(n)) {
    for (int r = 0; r < n; ++r) ranks.emplace_back(r, n, patience, true, 0);
  }
  [[nodiscard]] bool lives(int r) const { return !dead.contains(r); }
  void hear(int to, int from) {
    ranks[static_cast<std::size_t>(to)].heard(from);
    if (lost[static_cast<std::size_t>(to)].contains(from)) decide(from, false);
  }
  void decide(int about, bool is_lost) {  // the root, and all hear of it
    if (about == 0 || lost[0].contains(about) == is_lost) return;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (is_lost)
        lost[r].insert(about);
      else
        lost[r].erase(about);
  }
  void beat(int r) {
    auto& d = ranks[static_cast<std::size_t>(r)];
    auto const v = d.beat(now, lost[static_cast<std::size_t>(r)]);
    for (int const silent : v.silent) {
      if (r == 0) {
        decide(silent, true);
      } else if (silent != 0) {
        if (lives(0) && !ranks[0].has_adopted(silent)) decide(silent, true);
      } else {
        lost[static_cast<std::size_t>(r)].insert(0);
        if (d.tree().is_leader(r))
          for (int m = r + 1; m < d.tree().block_end(r); ++m) ranks[static_cast<std::size_t>(m)].doubt_root();
      }
    }
    if (v.doubt && lives(0)) ranks[0].adopt(r, *v.doubt);
    for (int const to : v.greet) {
      sent_by_root += r == 0 ? 1 : 0;
      if (lives(to) && !cut.contains({std::min(r, to), std::max(r, to)})) hear(to, r);
    }
  }
  void run_until(double end) {
    for (; now < end; now += 0.01)
      for (int r = 0; r < static_cast<int>(ranks.size()); ++r)
        if (lives(r) && ranks[static_cast<std::size_t>(r)].due(now)) beat(r);
  }
};

}  // namespace

TEST_CASE("in a crowd, the root learns of all deaths within twice the time-out, and of no other") {
  constexpr int n = 400;  // blocks of 20
  for (auto const& dying : {std::set<int>{7}, std::set<int>{20}, std::set<int>{133, 139, 399},
                            std::set<int>{40, 41, 42, 43, 59, 60, 61}}) {
    crowd all(n, 2);
    all.run_until(5);
    CHECK(all.lost[0].empty());
    all.dead = dying;
    all.run_until(5 + 2 * 2 + 1);
    for (int r = 0; r < n; ++r)
      if (all.lives(r)) CHECK(all.lost[static_cast<std::size_t>(r)] == dying);
    all.run_until(20);
    CHECK(all.lost[0] == dying);
  }
}

TEST_CASE("in a crowd, every rank learns that the root is dead") {
  constexpr int n = 400;
  for (auto const& dying : {std::set<int>{0}, std::set<int>{0, 20, 21}}) {
    crowd all(n, 2);
    all.run_until(5);
    all.dead = dying;
    all.run_until(5 + 3 * 2 + 1);
    for (int r = 0; r < n; ++r)
      if (all.lives(r)) CHECK(all.lost[static_cast<std::size_t>(r)].contains(0));
  }
}

TEST_CASE("a rank of a crowd that comes back to life is no longer lost") {
  for (int const sleeper : {7, 20, 25}) {
    CAPTURE(sleeper);
    crowd all(400, 2);
    all.run_until(5);
    all.dead = {sleeper};
    all.run_until(10);
    CHECK(all.lost[0] == std::set{sleeper});
    all.dead.clear();
    all.run_until(16);
    for (auto const& view : all.lost) CHECK(view.empty());
  }
}

TEST_CASE("a rank and its leader that cannot hear each other are not lost for long") {
  crowd all(400, 2);
  all.run_until(5);
  all.cut = {{20, 25}};
  all.run_until(12);
  double lost_seconds = 0;
  for (int k = 0; k < 100; ++k) {
    all.run_until(all.now + 0.25);
    lost_seconds += all.lost[0].empty() ? 0 : 0.25;
  }
  CHECK(lost_seconds == 0);
  all.cut.clear();
  all.run_until(all.now + 20);
  CHECK(all.lost[0].empty());
  all.dead = {25};
  all.run_until(all.now + 5);
  CHECK(all.lost[0] == std::set{25});
}

TEST_CASE("in a crowd, the root sends about two heartbeats per interval and square root of the ranks") {
  crowd all(400, 2);
  all.run_until(10);
  CHECK(all.sent_by_root <= 40 * 41);  // intervals of 0.25 s
  CHECK(all.sent_by_root >= 40 * 36);
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
