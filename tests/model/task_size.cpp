#include "skel/model/task_size.hpp"

#include <cmath>

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"

using namespace skel::model;
using test::error_text;

namespace {

machine_at wires(double latency, double gap = 0) {
  return {.ranks = 0, .latency_seconds = latency, .gap_seconds_per_byte = gap};
}

double seconds(farm_work const& w, machine_at const* where, double size) {
  return predict_farm(w, where, size).seconds();
}

}  // namespace

TEST_CASE("the seconds of a farm are the sum of its parts") {
  auto const here = wires(1e-3, 1e-6);
  farm_work const w{1000, 0.5, 4, 5};
  auto const e = predict_farm(w, &here, 10);
  REQUIRE(e.parts.size() == 3);
  CHECK(e.parts[0].seconds == Approx(100));                                  // N u / W
  CHECK(e.parts[1].seconds == Approx((100 * (2e-6 + 2e-3) + 4000e-6) / 5));  // two messages per task
  CHECK(e.parts[2].seconds == Approx(2.5));                                  // half a task
  CHECK(e.seconds() == Approx(100 + (100 * (2e-6 + 2e-3) + 4000e-6) / 5 + 2.5));
  CHECK(seconds(w, nullptr, 10) == Approx(100 + 100 * 2e-6 / 5 + 2.5));  // threads of one process
  // Work that is computed faster than the root distributes it.
  farm_work const light{1000, 1e-4, 4, 50};
  auto const bound = predict_farm(light, &here, 10);
  REQUIRE(bound.parts.size() == 2);
  CHECK(bound.parts[0].name == "root");
  CHECK(bound.seconds() == Approx(100 * 2e-3 + 4000e-6 + 5e-4));
}

TEST_CASE("no other task size costs less") {
  for (double const unit : {1e-7, 1e-5, 5e-2})
    for (double const latency : {0.0, 5e-6, 1e-3})
      for (int const workers : {1, 3, 28, 1000}) {
        auto const here = wires(latency, 8e-7);
        farm_work const w{54549, unit, 5, workers};
        double const best = best_task_units(w, &here);
        double const most = std::max(1.0, w.units / (4 * workers));
        CHECK(best >= 1);
        CHECK(best <= most);
        for (double other = 1; other <= most; other *= 1.1)
          CHECK(seconds(w, &here, best) <= seconds(w, &here, other) * (1 + 1e-9));
      }
}

TEST_CASE("the best size grows with the square root of the cost per task") {
  farm_work const w{1e9, 1e-5, 0, 4};
  auto const here = wires(1e-3);
  auto const slower = wires(4e-3 + 3e-6);  // four times 2 µs + 2 l
  CHECK(best_task_units(w, &here) == Approx(std::sqrt(2 * 1e9 * (2e-6 + 2e-3) / (4 * 1e-5))).epsilon(1e-3));
  CHECK(best_task_units(w, &slower) == Approx(2 * best_task_units(w, &here)).epsilon(1e-3));
  // With a latency that is wrong by a factor of 5, messages and end cost a third more than their minimum.
  auto const wrong = wires(5e-3);
  double const least = seconds(w, &here, best_task_units(w, &here)) - 1e9 * 1e-5 / 4;
  double const with_wrong = seconds(w, &here, best_task_units(w, &wrong)) - 1e9 * 1e-5 / 4;
  CHECK(with_wrong / least == Approx(1.34).margin(0.02));
}

TEST_CASE("a root that serves many workers wants larger tasks") {
  auto const here = wires(1e-4);
  farm_work const w{1e8, 1e-6, 0, 2000};
  double const by_workers_alone = std::sqrt(2 * 1e8 * (2e-6 + 2e-4) / (2000 * 1e-6));
  CHECK(best_task_units(w, &here) > 2 * by_workers_alone);
}

TEST_CASE("impossible farms are refused") {
  auto const here = wires(1e-3);
  auto const bad = [&](farm_work const& w, double size) {
    return error_text<skel::usage_error>([&] { (void)predict_farm(w, &here, size); });
  };
  CHECK(bad({10, 1, 1, 0}, 1) == "0 workers, expected at least 1");
  CHECK(bad({10, 1, 1, 1}, 0.5) == "tasks of 0.5 units, expected at least 1");
  CHECK(bad({10, -1, 1, 1}, 1) ==
        "a farm of 10 units, -1 s and 1 bytes each, expected numbers of at least 0");
  CHECK(best_task_units({0, 1, 1, 1}, &here) == 1);
  CHECK(best_task_units({1000, 0, 1, 5}, &here) == Approx(50));
}
