// Calibration among ranks that are threads of this process: it terminates, its results are
// complete, and its errors are clear.
#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "tools/calibration/calibrate.hpp"
#include "transport/hub_transport.hpp"

using namespace skel::model;

namespace {

calibrate_options quick() {
  calibrate_options o;
  o.repetitions = 5;
  o.largest_bytes = 1024;
  o.seconds_per_pattern = 0.01;
  return o;
}

}  // namespace

TEST_CASE("all numbers of ranks and kinds are measured") {
  for (int const ranks : {2, 5}) {
    hub::job job(ranks);
    machine found;
    job.run_well([&](skel::context& ctx) {
      auto m = calibrate(ctx, quick());
      if (ctx.is_root())
        found = m;
      else
        CHECK(m.at.empty());
    });
    auto const counts = ranks == 2 ? std::vector{2} : std::vector{2, 4, 5};
    REQUIRE(found.at.size() == counts.size() * 2);
    for (std::size_t i = 0; i < found.at.size(); ++i) {
      auto const& a = found.at[i];
      CHECK(a.ranks == counts[i / 2]);
      CHECK(a.kind == (i % 2 == 0 ? "raw" : "serialised"));
      CHECK(a.latency_seconds > 0);
      CHECK(a.latency_seconds < 0.1);
      for (auto const& t : a.timings) CHECK(t.seconds > 0);
    }
  }
}

TEST_CASE("a context can be calibrated several times") {
  hub::job job(2);
  auto o = quick();
  o.kinds = {"raw"};
  job.run([&](skel::context& ctx) {
    for (int i = 0; i < 3; ++i) (void)calibrate(ctx, o);
  });
  CHECK(job.error(0).empty());
  CHECK(job.error(1).empty());
}

TEST_CASE("bad options of a calibration are refused") {
  auto const bad = [](int ranks, calibrate_options const& o) {
    hub::job job(ranks);
    job.run([&](skel::context& ctx) { (void)calibrate(ctx, o); });
    for (int r = 1; r < ranks; ++r) CHECK(job.error(r) == job.error(0));
    return job.error(0);
  };
  CHECK(bad(1, quick()) == "calibrate: expected at least 2 ranks: mpiexec -n 4 skel-model calibrate …");
  auto o = quick();
  o.ranks = {2, 9};
  CHECK(bad(3, o) == "--ranks: found 2 to 9, expected 2 to 3, the number of ranks started");
  o = quick();
  o.repetitions = 1;
  CHECK(bad(2, o) == "1 repetitions, expected at least 5");
}

TEST_CASE("a lost rank ends the calibration on all ranks") {
  hub::job job(3);
  auto o = quick();
  o.seconds_per_pattern = 60;
  o.largest_bytes = 1 << 20;
  o.repetitions = 1000;
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    job.kill(2);
  });
  job.run([&](skel::context& ctx) { (void)calibrate(ctx, o); });
  killer.join();
  CHECK(job.error(0) == "lost rank 2 while calibrating");
  CHECK(job.error(1) == "lost rank 2 while calibrating");
}
