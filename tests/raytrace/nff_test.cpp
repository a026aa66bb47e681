#include "nff.hpp"

#include <sstream>
#include <string>

#include "catch.hpp"

using namespace raytrace;

namespace {

std::string const head =
    "v\nfrom 0 -5 1\nat 0 0 0\nup 0 0 1\nangle 40\nhither 0.5\nresolution 320 200\n"
    "f 1 0.5 0.25 0.8 0.2 30 0.1 1.5\n";

}  // namespace

TEST_CASE("every entity of NFF is read") {
  auto const s = parse_nff(
      "# a comment\n"
      "b 0.1 0.2 0.3\n" +
          head +
          "l 1 2 3\n"
          "l 4 5 6 0.5 0.25 1   # coloured\n"
          "s 1 2 3 0.5\n"
          "s 0 0 0 -2\n"
          "f 0 1 0 1 0 0 0 0\n"
          "c\n0 0 0 1\n0 0 2 0.5\n"
          "c 0 0 0 -1 0 0 2 -1\n"
          "p 3\n0 0 0\n1 0 0\n+1e0 1 0\n"
          "pp 3\n0 0 0 0 0 2\n1 0 0 0 0 1\n1 1 0 0 1 1\n",
      "all.nff");
  CHECK(s.name == "all.nff");
  CHECK(s.background == vec3d{0.1, 0.2, 0.3});
  CHECK(s.view.from == vec3d{0, -5, 1});
  CHECK(s.view.at == vec3d{0, 0, 0});
  CHECK(s.view.up == vec3d{0, 0, 1});
  CHECK(s.view.angle == 40);
  CHECK(s.view.hither == 0.5);
  CHECK(s.view.width == 320);
  CHECK(s.view.height == 200);
  REQUIRE(s.lights.size() == 2);
  CHECK_FALSE(s.lights[0].color);
  REQUIRE(s.lights[1].color);
  CHECK(*s.lights[1].color == vec3d{0.5, 0.25, 1});
  REQUIRE(s.materials.size() == 2);
  CHECK(s.materials[0].color == vec3d{1, 0.5, 0.25});
  CHECK(s.materials[0].diffuse == 0.8);
  CHECK(s.materials[0].specular == 0.2);
  CHECK(s.materials[0].shine == 30);
  CHECK(s.materials[0].transmittance == 0.1);
  CHECK(s.materials[0].refraction == 1.5);
  REQUIRE(s.primitives.size() == 6);
  CHECK(s.primitives[1].material == 0);
  CHECK(s.primitives[2].material == 1);
  CHECK(s.spheres[1].radius == -2);
  CHECK(s.cones[0].apex == vec3d{0, 0, 2});
  CHECK(s.cones[0].apex_radius == 0.5);
  CHECK(s.cones[1].base_radius == -1);
  REQUIRE(s.polygons.size() == 2);
  CHECK(s.polygons[0].first_normal == polygon::flat);
  CHECK(s.vertices[2] == vec3d{1, 1, 0});
  REQUIRE(s.normals.size() == 3);
  CHECK(s.normals[0] == vec3d{0, 0, 1});
  CHECK(s.normals[2].y == Approx(std::sqrt(0.5)));
}

TEST_CASE("line ends, blanks and layout are irrelevant") {
  auto const s = parse_nff(
      "v from 0 0 9\r\n at 0 0 0\tup 0 1 0 angle 45 resolution 4 4\r\nf 1 1 1 1 0 0 0 0 s 0\n0\n0 1", "x");
  CHECK(s.spheres.size() == 1);
  CHECK(s.view.hither == 0);
}

TEST_CASE("numbers too small for a double are 0") {
  auto const s = parse_nff(head + "s 1e-400 0 0 1\n", "x");
  CHECK(s.spheres[0].center.x == 0);
}

TEST_CASE("written scenes are read back unchanged") {
  auto const once =
      parse_nff("b 0.1 0.2 0.3\n" + head +
                    "l 1 2 3\nl 4 5 6 0.1 0.2 0.3\ns 0.1 0.2 0.3 -4\n"
                    "c\n0 0 0 1\n0 0 0.7 0.5\nf 1 1 1 0.5 0 1 0 1\np 3\n0 0 0\n1 0 0\n1 1 0.125\n"
                    "pp 3\n0 0 0 0 0 1\n1 0 0 0 0 1\n1 1 0 0 0.6 0.8\n",
                "x");
  std::ostringstream first, second;
  write_nff(first, once, 17);
  auto const twice = parse_nff(first.str(), "x");
  write_nff(second, twice, 17);
  CHECK(first.str() == second.str());
  CHECK(twice.primitives.size() == once.primitives.size());
  CHECK(twice.vertices == once.vertices);
  CHECK(twice.spheres[0].center == once.spheres[0].center);
  CHECK(twice.lights[1].color == once.lights[1].color);
}

TEST_CASE("lights without a colour share SPD's intensity") {
  CHECK(default_intensity(1) == Approx(0.5));
  CHECK(default_intensity(3) == Approx(0.288675));
  CHECK(default_intensity(5) == Approx(0.223607));
  CHECK(default_intensity(0) == 0);
}
