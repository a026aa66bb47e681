#include "skel/applications/render_grid.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"
#include "skel/run_threads.hpp"

namespace {

// Along y through a block of 2 x 2 x 2 that absorbs 0.7 per unit of length.
std::string specification(std::string const& background) {
  return R"({"size": [9, 7], "view": {"projection": "parallel", "from": [1, -5, 1], "at": [1, 1, 1], "height": 4},
    "mapping": {"color": [[0, "#ffffff"], [1, "#ffffff"]], "opacity": [[0, 0.7], [1, 0.7]], "unit": 1},
    "background": ")" +
         background + R"("})";
}

volume::grid_picture render(int ranks, volume_data::grid_values const& grid, std::string const& how) {
  volume::grid_picture kept;
  skel::run_threads(ranks, [&](skel::context& ctx) {
    auto made = volume::render_grid(ctx, grid, how);
    if (ctx.is_root())
      kept = std::move(made);
    else
      CHECK(made.rgba.empty());
  });
  return kept;
}

}  // namespace

TEST_CASE("render_grid gives the opacity that the law of absorption says, on any number of ranks") {
  std::vector<float> const ones(27, 1.0F);
  volume_data::grid_values const grid{ones, {3, 3, 3}};
  auto const alone = render(1, grid, specification("none"));
  REQUIRE(alone.rgba.size() == std::size_t{4} * 9 * 7);
  auto const middle = 4 * (std::size_t{3} * 9 + 4);
  CHECK(std::abs(alone.rgba[middle + 3] - (1 - std::exp(-0.7 * 2))) < 1e-4);
  CHECK(alone.rgba[3] == 0);  // beside the block
  for (int const ranks : {2, 5}) CHECK(render(ranks, grid, specification("none")).rgba == alone.rgba);
  auto const opaque = render(2, grid, specification("#000000"));
  for (std::size_t p = 3; p < opaque.rgba.size(); p += 4) CHECK(opaque.rgba[p] == 1);
  CHECK(std::abs(opaque.rgba[middle] - alone.rgba[middle]) < 1e-6);  // in front of black
}

TEST_CASE("render_grid uses coordinates") {
  std::vector<float> const ones(27, 1.0F);
  auto const deep =
      render(1, {ones, {3, 3, 3}, {{{0, 1, 2}, {0, 0.5, 4}, {0, 1, 2}}}}, specification("none"));
  CHECK(std::abs(deep.rgba[4 * (std::size_t{3} * 9 + 4) + 3] - (1 - std::exp(-0.7 * 4))) < 1e-4);
}

TEST_CASE("render_grid refuses values that do not fit, and bad specifications") {
  std::vector<float> const ones(27, 1.0F);
  CHECK_THROWS_AS(render(1, {ones, {3, 3, 4}}, "{}"), skel::usage_error);
  CHECK_THROWS_AS(render(1, {ones, {27, 1, 1}}, "{}"), skel::usage_error);
  CHECK_THROWS_AS(render(1, {ones, {3, 3, 0}}, "{}"), skel::usage_error);
  CHECK_THROWS_AS(render(1, {ones, {3, 3, 3}, {{{0, 1}, {}, {}}}}, "{}"), skel::usage_error);
  CHECK_THROWS_AS(render(1, {ones, {3, 3, 3}, {{{0, 1, 1}, {}, {}}}}, "{}"), skel::usage_error);
  CHECK_THROWS_AS(render(2, {ones, {3, 3, 3}}, R"({"siz": [3, 3]})"), skel::usage_error);
}

TEST_CASE("render_grid refuses ranks that pass different specifications") {
  std::vector<float> const ones(27, 1.0F);
  CHECK_THROWS_AS(skel::run_threads(3,
                                    [&](skel::context& ctx) {
                                      static_cast<void>(volume::render_grid(
                                          ctx, {ones, {3, 3, 3}},
                                          ctx.is_root() ? R"({"size": [4, 4]})" : R"({"size": [5, 5]})"));
                                    }),
                  skel::usage_error);
}
