// The ray counts published by SPD (readme of SPD 3: 513 x 513 rays through the corners of the
// pixels, depth 5, no adaptive cut-off), within 10 %. This test casts 513 x 513 rays over the same
// angle.
#include <vector>

#include "catch.hpp"
#include "fewer.hpp"
#include "renderer.hpp"
#include "spd.hpp"

using namespace raytrace;

namespace {

// Sanitizers slow rays down tenfold, so they use every third row and column.
constexpr int side = test::slow ? 171 : 513;
constexpr double share = static_cast<double>(side) * side / (513.0 * 513.0);

ray_counts counted(scene const& world) {
  settings how;
  how.width = how.height = side;
  renderer const r(world, how);
  std::vector<float> row(std::size_t{3} * side);
  ray_counts counts;
  for (int y = 0; y < side; ++y) r.render_row(y, row, counts);
  return counts;
}

void near(std::uint64_t ours, double published) {
  published *= share;
  CHECK(static_cast<double>(ours) > 0.9 * published);
  CHECK(static_cast<double>(ours) < 1.1 * published);
}

}  // namespace

TEST_CASE("balls 4") {
  auto const c = counted(make_balls(4));
  CHECK(c.primary == static_cast<std::uint64_t>(side) * side);
  near(c.primary_hits, 263169);
  near(c.reflected, 175095);
  near(c.shadow, 954368);
  CHECK(c.refracted == 0);
}

TEST_CASE("gears 4 with the published material") {
  auto const c = counted(make_gears(4, gears_material::published));
  near(c.primary_hits, 245086);
  near(c.reflected, 304643);
  near(c.refracted, 207564);
  near(c.shadow, 2246955);
}

TEST_CASE("gears 4 with the material of the NFF file casts fewer rays") {
  auto const c = counted(make_gears(4));
  near(c.reflected + c.refracted, 181424);  // measured with another renderer
  near(c.shadow, 1524689);
}

TEST_CASE("tetra 6") {
  auto const c = counted(make_tetra(6));
  near(c.primary_hits, 49788);
  near(c.shadow, 46112);
  CHECK(c.reflected + c.refracted == 0);
}

TEST_CASE("the biased view crowds the objects into one side of the image") {
  auto world = make_tetra(4);
  for (bool const bias : {false, true}) {
    auto w = world;
    if (bias) w.view = biased(w.view);
    settings how;
    how.width = how.height = 64;
    renderer const r(w, how);
    std::vector<float> row(192);
    ray_counts upper, lower;
    for (int y = 0; y < 64; ++y) r.render_row(y, row, y < 32 ? upper : lower);
    CHECK(lower.primary_hits > 100);
    if (bias) CHECK(upper.primary_hits * 10 < lower.primary_hits);
    if (!bias) CHECK(upper.primary_hits * 10 > lower.primary_hits);
  }
}
