#include "task_size.hpp"

#include "catch.hpp"

using skel::volume::best_task_size;

namespace {

// The cost that is to be least, as task_size.hpp has it.
double cost(double pixels, double workers, double size, skel::volume::farm_costs const& c) {
  return (pixels * c.seconds_per_pixel + pixels / size * c.seconds_per_task) / workers +
         size * c.seconds_per_pixel / 2;
}

}  // namespace

TEST_CASE("no other task size costs less") {
  for (double const pixel : {1e-7, 1e-5, 5e-2})
    for (double const task : {1e-6, 1e-4, 1e-2})
      for (int const workers : {1, 3, 28}) {
        skel::volume::farm_costs const c{pixel, task};
        std::uint64_t const pixels = 54549;
        int const found = best_task_size(pixels, workers, c);
        CHECK(found >= 8);
        CHECK(found % 8 == 0);
        for (int other = 8; 4 * other * workers <= 54549; other += 8)
          CHECK(cost(54549, workers, found, c) <= cost(54549, workers, other, c) * 1.001);
      }
}

TEST_CASE("small pictures, free pixels, free tasks") {
  CHECK(best_task_size(1, 100, {1e-6, 1e-6}) == 8);
  CHECK(best_task_size(1000000, 2, {0, 1e-6}) == 125000);
  CHECK(best_task_size(1000000, 2, {1e-6, 0}) == 8);
  CHECK(best_task_size(1000000, 2, {0, 0}) == 125000);
}
