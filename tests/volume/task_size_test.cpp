#include "task_size.hpp"

#include <algorithm>

#include "catch.hpp"
#include "skel/error.hpp"

using volume::best_task_size;
namespace model = skel::model;

TEST_CASE("tasks are whole tiles, near the best number of units") {
  auto const here = model::machine::assumed().at.at(0);
  for (double const pixel : {1e-7, 1e-5, 5e-2})
    for (int const workers : {1, 3, 28}) {
      int const found = best_task_size(54549, pixel, workers, &here);
      CHECK(found >= 16);
      CHECK(found % 16 == 0);
      CHECK(found ==
            Approx(std::max(16.0, model::best_task_units({54549, pixel, 16, workers}, &here))).margin(8.01));
    }
}

TEST_CASE("small pictures, free pixels, and threads of one process") {
  auto const here = model::machine::assumed().at.at(0);
  CHECK(best_task_size(1, 1e-6, 100, &here) == 16);
  CHECK(best_task_size(1000000, 0, 2, &here) == 125008);
  CHECK(best_task_size(1000000, 1e-6, 2, nullptr) < best_task_size(1000000, 1e-6, 2, &here));
}
