// Power shared with others: work done and finishing times.

#include "catch.hpp"
#include "skel/sim/platform.hpp"

using skel::sim::machine;

TEST_CASE("a machine of constant power") {
  machine const m{"m", 0.5};
  CHECK(m.finish_time(3, 2) == 7);
  CHECK(m.work_done(3, 7) == 2);
  CHECK(m.finish_time(3, 0) == 3);
}

TEST_CASE("load that changes, once or again and again") {
  machine m{"m", 2, {{10, 0.5}, {20, 1}}};
  CHECK(m.work_done(0, 30) == 20 + 10 + 20);
  CHECK(m.finish_time(9, 2 + 10 + 4) == 22);
  m.repeat_seconds = 20 + 10;  // power 2 from 20 to 40, then 1 until 50
  CHECK(m.work_done(30, 60) == 20 + 10 + 20);
  CHECK(m.finish_time(39, 2 + 10 + 4) == 52);
  CHECK(m.work_done(0, 3000) == Approx(100 * 50.0));
}

TEST_CASE("finishing is the inverse of working") {
  auto const p = skel::sim::platform::ready("uneven:ranks=20,seed=3");
  for (auto const& m : p.machines)
    for (double from : {0.0, 0.1, 17.3, 1000.7, 123456.789})
      for (double work : {1e-6, 0.3, 5.0, 1000.0}) {
        double const end = m.finish_time(from, work);
        CHECK(end > from);
        CHECK(m.work_done(from, end) == Approx(work).epsilon(1e-6).margin(1e-9));
      }
}

TEST_CASE("the ideal time is that of all powers together") {
  auto const p = skel::sim::platform::ready("lee-1997-14");
  CHECK(p.ideal_seconds(648.2) == Approx(648.2 / (12 + 0.442 + 1.347)));
  CHECK(p.ideal_seconds(648.2, true) == Approx(648.2 / (11 + 0.442 + 1.347)));
  CHECK(p.ideal_seconds(0) == Approx(0).margin(1e-20));
}
