#include "skel/applications/render_scene.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"
#include "skel/run_threads.hpp"

namespace {

std::string const ball = R"(v
from 0 0 5
at 0 0 0
up 0 1 0
angle 40
hither 1
resolution 8 8
b 0.25 0.5 0.75
l 10 10 10
f 1 0 0 1 0 1 0 0
s 0 0 0 1
)";

raytrace::scene_picture render(int ranks, std::string const& text, raytrace::picture_settings const& how) {
  raytrace::scene_picture kept;
  skel::run_threads(ranks, [&](skel::context& ctx) {
    auto made = raytrace::render_scene(ctx, text, how);
    if (ctx.is_root())
      kept = std::move(made);
    else
      CHECK(made.rgb.empty());
  });
  return kept;
}

}  // namespace

TEST_CASE("render_scene shows a red ball in front of the background, on any number of ranks") {
  auto const alone = render(1, ball, {.width = 31, .height = 21});
  REQUIRE(alone.rgb.size() == std::size_t{3} * 31 * 21);
  CHECK(std::vector(alone.rgb.begin(), alone.rgb.begin() + 3) == std::vector<float>{0.25F, 0.5F, 0.75F});
  auto const* const middle = &alone.rgb[3 * (std::size_t{10} * 31 + 15)];
  CHECK(middle[0] > 0.1F);
  CHECK((middle[1] == 0 && middle[2] == 0));
  // The ball's outline: asin(1/5) of the 20 degrees to the picture's edge, at 10 pixels.
  std::size_t red = 0;
  for (std::size_t p = 0; p < alone.rgb.size(); p += 3) red += alone.rgb[p + 2] == 0 ? 1 : 0;
  CHECK((red > 80 && red < 110));  // pi * (10 tan(11.5) / tan(20))^2 = 98
  for (int const ranks : {2, 3, 30}) CHECK(render(ranks, ball, {.width = 31, .height = 21}).rgb == alone.rgb);
  CHECK(render(3, ball, {.width = 1, .height = 1}).rgb.size() == 3);
}

TEST_CASE("render_scene refuses what is not a scene, and settings out of range") {
  CHECK_THROWS_AS(render(1, "sphere", {}), skel::usage_error);
  CHECK_THROWS_AS(render(1, ball, {.width = 0}), skel::usage_error);
  CHECK_THROWS_AS(render(2, ball, {.depth = 65}), skel::usage_error);
  CHECK_THROWS_AS(render(1, ball, {.brightness = -1}), skel::usage_error);
}

TEST_CASE("render_scene refuses ranks that pass different settings") {
  CHECK_THROWS_AS(skel::run_threads(3,
                                    [&](skel::context& ctx) {
                                      static_cast<void>(raytrace::render_scene(
                                          ctx, ball, {.width = ctx.is_root() ? 8 : 9}));
                                    }),
                  skel::usage_error);
}
