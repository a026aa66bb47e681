// The number of threads of a rank, from the cores of its host.
#include "engine/cores.hpp"

#include "catch.hpp"

TEST_CASE("a rank uses its share of the cores, at least one") {
  CHECK(skel::detail::usable_cores() >= 1);
  CHECK(skel::detail::default_threads(8, 8, 1) == 8);
  CHECK(skel::detail::default_threads(8, 8, 4) == 2);
  CHECK(skel::detail::default_threads(2, 8, 2) == 2);
  CHECK(skel::detail::default_threads(1, 1, 16) == 1);
  CHECK(skel::detail::default_threads(4, 8, 0) == 4);
}
