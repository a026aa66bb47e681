// Radiances and directions that can be computed by hand.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "catch.hpp"
#include "nff.hpp"
#include "renderer.hpp"

using namespace raytrace;

namespace {

struct rendered {
  std::vector<float> rgb;
  ray_counts counts;
  [[nodiscard]] float at(std::size_t x, std::size_t y, std::size_t width) const {
    return rgb[3 * (y * width + x)];
  }
};

rendered render(std::string const& text, int size, int depth = 5) {
  settings how;
  how.width = how.height = size;
  how.depth = depth;
  rendered r{
      std::vector<float>(std::size_t{3} * static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
      {}};
  renderer(parse_nff(text, "x"), how).render_tile(0, 0, size, size, r.rgb, r.counts);
  return r;
}

}  // namespace

// pbrt's analytic scene with direct light only: inside a unit sphere of albedo 0.5, light from the
// centre meets every point perpendicularly.
TEST_CASE("the inside of a sphere with a light of intensity 1 at its centre is uniformly Kd") {
  for (std::string const radius : {"1", "-1"}) {
    auto const r = render(
        "v from 0.3 0.2 -0.4 at 0 0 5 up 0 1 0 angle 90 resolution 9 9 l 0 0 0 1 1 1 "
        "f 1 1 1 0.5 0 0 0 1 s 0 0 0 " +
            radius,
        16);
    for (float const v : r.rgb) CHECK(v == Approx(0.5).epsilon(1e-4));
    CHECK(r.counts.primary == 256);
    CHECK(r.counts.primary_hits == 256);
    CHECK(r.counts.shadow == 256);
  }
}

TEST_CASE("the background where nothing is hit") {
  auto const r = render("b 0.1 0.2 0.3 v from 0 0 0 at 0 0 5 up 0 1 0 angle 90 resolution 9 9", 2);
  CHECK(r.rgb == std::vector<float>{0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F});
  CHECK(r.counts.primary_hits == 0);
}

TEST_CASE("Lambert's law, colours and SPD's light intensity") {
  // looking straight down on a floor; one light at 60 degrees from the normal: cos 60 = 0.5, intensity
  // sqrt(1) / 2
  auto const r = render(
      "v from 0 0 5 at 0 0 0 up 0 1 0 angle 1 resolution 1 1 l 1.7320508 0 1 f 0.8 0.4 0.2 0.5 0 0 0 1 "
      "p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 0",
      1);
  CHECK(r.rgb[0] == Approx(0.5 * 0.5 * 0.5 * 0.8).epsilon(1e-3));
  CHECK(r.rgb[1] == Approx(0.5 * 0.5 * 0.5 * 0.4).epsilon(1e-3));
  CHECK(r.rgb[2] == Approx(0.5 * 0.5 * 0.5 * 0.2).epsilon(1e-3));
}

TEST_CASE("brightness multiplies lights without a colour, and only those") {
  std::string const floor =
      "v from 0 0 5 at 0 0 0 up 0 1 0 angle 1 resolution 1 1 f 1 1 1 1 0 0 0 1 p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 "
      "0 ";
  for (auto const& [lights, expected] : {std::pair{"l 0 0 9", 1.0}, {"l 0 0 9 0.25 0.25 0.25", 0.25}}) {
    settings how;
    how.width = how.height = 1;
    how.brightness = 2;
    std::vector<float> rgb(3);
    ray_counts counts;
    renderer(parse_nff(floor + lights, "x"), how).render_row(0, rgb, counts);
    CHECK(rgb[0] == Approx(expected).epsilon(1e-3));
  }
}

TEST_CASE("Phong highlight: Ks times the cosine to the power of shine, in the light's colour") {
  // the eye looks down along the normal, so the mirrored ray is the normal; light at 60 degrees
  auto const r = render(
      "v from 0 0 5 at 0 0 0 up 0 1 0 angle 1 resolution 1 1 l 1.7320508 0 1 1 0.5 0.25 "
      "f 1 1 1 0 0.5 3 0 1 p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 0",
      1, 1);
  CHECK(r.rgb[0] == Approx(0.5 * 0.125).epsilon(1e-3));
  CHECK(r.rgb[1] == Approx(0.5 * 0.125 * 0.5).epsilon(1e-3));
  CHECK(r.rgb[2] == Approx(0.5 * 0.125 * 0.25).epsilon(1e-3));
}

TEST_CASE("shadows: also of glass; lights behind the surface cast no shadow ray") {
  std::string const floor =
      "v from 0 0 5 at 0 0 0 up 0 1 0 angle 1 resolution 1 1 f 1 1 1 1 0 0 0 1 "
      "p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 0 ";
  CHECK(render(floor + "l 3 0 3", 1).rgb[0] > 0.3F);
  CHECK(render(floor + "l 3 0 3 s 1.5 0 1.5 0.5", 1).rgb[0] == 0);
  CHECK(render(floor + "l 3 0 3 f 1 1 1 0 0 0 1 1 s 1.5 0 1.5 0.5", 1).rgb[0] == 0);
  CHECK(render(floor + "l 3 0 3 s 6 0 6 0.5", 1).rgb[0] > 0.3F);  // behind the light
  CHECK(render(floor + "l 3 0 -3", 1).counts.shadow == 0);
}

TEST_CASE("two mirrors: the depth limits the tree, each generation is weighted by Ks") {
  std::string const text =
      "b 1 1 1 v from 0 0 0 at 0 0 1 up 0 1 0 angle 1 resolution 1 1 f 1 1 1 0 0.5 1 0 1 "
      "p 4 -9 -9 2 9 -9 2 9 9 2 -9 9 2 p 4 -9 -9 -2 9 -9 -2 9 9 -2 -9 9 -2";
  for (int depth = 1; depth <= 6; ++depth)
    CHECK(render(text, 1, depth).counts.reflected == static_cast<unsigned>(depth - 1));
  auto const one = render(
      "b 1 1 1 v from 0 0 0 at 0 0 1 up 0 1 0 angle 1 resolution 1 1 f 1 1 1 0 0.5 1 0 1 "
      "p 4 -9 -9 2 9 -9 2 9 9 2 -9 9 2",
      1, 5);
  CHECK(one.rgb[0] == Approx(0.5));
  CHECK(one.counts.reflected == 1);
}

// A ray at 45 degrees through a glass slab of thickness d leaves it parallel, displaced along the
// surface by d tan(45) - d tan(r), with sin(45) = n sin(r).
TEST_CASE("a glass slab displaces by Snell's law") {
  double const n = 1.5, thickness = 1, inside = std::asin(std::sin(std::numbers::pi / 4) / n);
  double const undisturbed = 2;  // x on the far plane z = -2 of the ray from (-2, 0, 2) towards (0, 0, 0)
  double const landed = undisturbed - thickness * (1 - std::tan(inside));
  // a black half plane whose edge lies just before, then just behind the point where the ray lands
  for (double const edge : {landed - 0.001, landed + 0.001}) {
    std::string const text =
        "b 1 1 1 v from -2 0 2 at 0 0 0 up 0 1 0 angle 0.001 resolution 1 1 f 1 1 1 0 0 0 1 1.5 "
        "p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 0 p 4 -9 9 -1 9 9 -1 9 -9 -1 -9 -9 -1 f 0 0 0 0 0 0 0 1 "
        "p 4 " +
        std::to_string(edge) + " -9 -2 9 -9 -2 9 9 -2 " + std::to_string(edge) + " 9 -2";
    auto const r = render(text, 1);
    CHECK(r.counts.refracted == 2);
    CHECK(r.rgb[0] == (edge < landed ? 0.0F : 1.0F));
  }
}

TEST_CASE("total internal reflection starts at the critical angle") {
  double const critical = std::asin(1 / 1.5);
  for (double const angle : {critical - 0.002, critical + 0.002}) {
    // from inside the glass (below z = 0, the surface looks up) to the surface above the eye
    std::string const text = "b 1 1 1 v from 0 0 -1 at " + std::to_string(std::tan(angle)) +
                             " 0 0 up 0 1 0 angle 0.001 resolution 1 1 f 1 1 1 0 0 0 1 1.5 "
                             "p 4 -9 -9 0 9 -9 0 9 9 0 -9 9 0";
    auto const r = render(text, 1);
    CHECK(r.counts.refracted == (angle < critical ? 1U : 0U));
    CHECK(r.rgb[0] == (angle < critical ? 1.0F : 0.0F));
  }
}

TEST_CASE("a glass sphere of index 1 is invisible, also inside out") {
  for (std::string const radius : {"1", "-1"}) {
    auto const r = render(
        "b 0.25 0.5 1 v from 0 0 5 at 0 0 0 up 0 1 0 angle 10 resolution 1 1 f 1 1 1 0 0 0 1 1 s 0 0 0 " +
            radius,
        8);
    for (std::size_t i = 0; i < r.rgb.size(); i += 3) CHECK(r.rgb[i] == 0.25F);
    CHECK(r.counts.refracted == 128);
  }
}

TEST_CASE("patches are shaded with their interpolated normals") {
  // normals lean to +x on the right and to -x on the left; in the middle they point up at the light
  std::string const text =
      "v from 0 0 5 at 0 0 0 up 0 1 0 angle 20 resolution 1 1 l 0 0 1000 1 1 1 f 1 1 1 1 0 0 0 1 "
      "pp 4 -2 -2 0 -1 0 1  2 -2 0 1 0 1  2 2 0 1 0 1  -2 2 0 -1 0 1";
  auto const r = render(text, 9);
  CHECK(r.at(4, 4, 9) == Approx(1).epsilon(1e-3));
  // at x = 5 tan(10) the interpolated normal is (x / 2, 0, 1): its cosine to the light
  double const lean = 5 * std::tan(10 * std::numbers::pi / 180) / 2;
  CHECK(r.at(8, 4, 9) == Approx(1 / std::sqrt(1 + lean * lean)).epsilon(1e-3));
  CHECK(r.at(0, 4, 9) == Approx(r.at(8, 4, 9)).epsilon(1e-4));
}

// A flat glass patch whose normals lean to one side turns a ray that meets it perpendicularly.
TEST_CASE("glass patches refract by their interpolated normals, as they reflect") {
  double const lean = 0.2, tilt = std::atan(lean);
  double const turned = tilt - std::asin(std::sin(tilt) / 1.5);
  double const landed = -2 * std::tan(turned);  // on a plane 2 below
  for (double const edge : {landed - 0.001, landed + 0.001}) {
    std::string const corners = std::to_string(lean) + " 0 1 ";
    std::string const text =
        "b 1 1 1 v from 0 0 2 at 0 0 0 up 0 1 0 angle 0.001 resolution 1 1 f 1 1 1 0 0 0 1 1.5 "
        "pp 4 -9 -9 0 " +
        corners + "9 -9 0 " + corners + "9 9 0 " + corners + "-9 9 0 " + corners + "f 0 0 0 0 0 0 0 1 p 4 " +
        std::to_string(edge) + " -9 -2 9 -9 -2 9 9 -2 " + std::to_string(edge) + " 9 -2";
    CHECK(render(text, 1).rgb[0] == (edge < landed ? 0.0F : 1.0F));
  }
}

TEST_CASE(
    "the view's angle extends between the centres of the border pixels; pixels are square in wide images") {
  settings how;
  how.width = 21;
  how.height = 11;
  renderer const r(parse_nff("v from 0 0 0 at 0 0 -1 up 0 1 0 angle 90 resolution 1 1", "x"), how);
  auto const top = r.primary(10, 0).direction, right = r.primary(20, 5).direction;
  CHECK(top.y / -top.z == Approx(1));
  CHECK(top.x == Approx(0).margin(1e-7));
  CHECK(right.x / -right.z == Approx(2));
}
