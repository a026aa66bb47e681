// Selected lines of the output of the SPD programs (version 3, `-r 1`), and totals.
#include "spd.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "nff.hpp"

using namespace raytrace;

namespace {

std::vector<std::string> lines_of(scene const& s) {
  std::ostringstream out;
  write_nff(out, s);
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t polygons_with(scene const& s, std::uint32_t corners) {
  return static_cast<std::size_t>(std::count_if(s.polygons.begin(), s.polygons.end(),
                                                [&](polygon const& p) { return p.vertices == corners; }));
}

}  // namespace

TEST_CASE("balls") {
  CHECK(make_balls(2).spheres.size() == 91);
  auto const s = make_balls(4);
  CHECK(s.spheres.size() == 7381);
  CHECK(s.polygons.size() == 1);
  CHECK(s.lights.size() == 3);
  auto const lines = lines_of(s);
  CHECK(lines.size() == 7399);
  std::vector<std::string> const expected{"b 0.078 0.361 0.753",
                                          "v",
                                          "from 2.1 1.3 1.7",
                                          "at 0 0 0",
                                          "up 0 0 1",
                                          "angle 45",
                                          "hither 0.01",
                                          "resolution 512 512",
                                          "l 4 3 2",
                                          "l 1 -4 4",
                                          "l -3 1 5",
                                          "f 1 0.75 0.33 0.8 0 100000 0 1",
                                          "p 4",
                                          "12 12 -0.5",
                                          "-12 12 -0.5",
                                          "-12 -12 -0.5",
                                          "12 -12 -0.5",
                                          "f 1 0.9 0.7 0.5 0.5 3.0827 0 1",
                                          "s 0 0 0 0.5",
                                          "s 0.272166 0.272166 0.544331 0.166667",
                                          "s 0.420314 0.420314 0.618405 0.0555556",
                                          "s 0.470715 0.470715 0.598245 0.0185185",
                                          "s 0.481689 0.481689 0.57904 0.00617284",
                                          "s 0.475329 0.45787 0.577669 0.00617284",
                                          "s 0.45787 0.475329 0.577669 0.00617284"};
  CHECK(std::vector<std::string>(lines.begin(), lines.begin() + 25) == expected);
}

TEST_CASE("gears") {
  CHECK(make_gears(1).polygons.size() == 146 + 1);
  auto const small = make_gears(2);
  CHECK(small.polygons.size() == 1169);
  CHECK(polygons_with(small, 4) == 1152 + 1);
  auto const s = make_gears(4);
  CHECK(s.polygons.size() == 9345);
  CHECK(polygons_with(s, 144) == 128);
  CHECK(s.lights.size() == 5);
  auto const lines = lines_of(s);
  CHECK(lines.size() == 64723);
  std::vector<std::string> const first{"b 0.078 0.361 0.753",
                                       "v",
                                       "from -1.1 -2.1 2.6",
                                       "at 0 0 0",
                                       "up 0 0 1",
                                       "angle 45",
                                       "hither 1",
                                       "resolution 512 512",
                                       "l 2 4 4",
                                       "l -2 4 3",
                                       "l 2 -2.5 2.5",
                                       "l -1 -4 2",
                                       "l -1.111 -2.121 2.626",
                                       "f 1 0.85 0.7 0.3 0.6 3.0827 0 0",
                                       "p 4",
                                       "2 2 0",
                                       "-2 2 0",
                                       "-2 -2 0",
                                       "2 -2 0",
                                       "f 1 0.605523 0.408284 0.2 0 100000 0.8 1.1",
                                       "p 144",
                                       "-0.48196 -0.748828 1",
                                       "-0.48196 -0.731691 1",
                                       "-0.506814 -0.728025 1",
                                       "-0.508236 -0.711771 1"};
  CHECK(std::vector<std::string>(lines.begin(), lines.begin() + 25) == first);
  std::vector<std::string> const last{"0.957004 0.82783 0.15",  "0.962585 0.812497 0.15",
                                      "0.98754 0.815389 0.15",  "0.991976 0.798836 0.15",
                                      "0.968918 0.788862 0.15", "0.971751 0.772794 0.15"};
  CHECK(std::vector<std::string>(lines.end() - 6, lines.end()) == last);
}

TEST_CASE("gears with the material of the published counts") {
  auto const nff = make_spd("gears:2"), published = make_spd("gears:2,ks=0.2");
  int glass = 0;
  for (std::size_t i = 0; i < nff.materials.size(); ++i) {
    auto const& a = nff.materials[i];
    auto const& b = published.materials[i];
    bool const transmits = a.transmittance > 0;
    glass += transmits ? 1 : 0;
    CHECK(b.specular == (transmits ? 0.2 : a.specular));
    CHECK(a.specular == (i == 0 ? 0.6 : 0));
    CHECK(b.transmittance == a.transmittance);
  }
  CHECK(glass > 0);
}

TEST_CASE("tetra") {
  CHECK(make_tetra(1).polygons.size() == 4);
  CHECK(make_tetra(2).polygons.size() == 16);
  auto const s = make_tetra(6);
  CHECK(s.polygons.size() == 4096);
  auto const lines = lines_of(s);
  CHECK(lines.size() == 16394);
  std::vector<std::string> const first{"b 0.078 0.361 0.753",
                                       "v",
                                       "from 1.02285 -3.17715 -2.17451",
                                       "at -0.004103 -0.004103 0.216539",
                                       "up -0.816497 -0.816497 0.816497",
                                       "angle 45",
                                       "hither 1",
                                       "resolution 512 512",
                                       "l 2 -18 -5",
                                       "f 1 0.2 0.2 1 0 100000 0 0",
                                       "p 3",
                                       "-1 -1 1",
                                       "-1 -0.9375 0.9375",
                                       "-0.9375 -1 0.9375",
                                       "p 3",
                                       "-0.9375 -0.9375 1",
                                       "-0.9375 -1 0.9375",
                                       "-1 -0.9375 0.9375"};
  CHECK(std::vector<std::string>(lines.begin(), lines.begin() + 18) == first);
  std::vector<std::string> const last{"0.9375 0.9375 1", "p 3", "0.9375 1 0.9375", "0.9375 0.9375 1",
                                      "1 1 1"};
  CHECK(std::vector<std::string>(lines.end() - 5, lines.end()) == last);
}

TEST_CASE("scenes by name") {
  CHECK(make_spd("balls").spheres.size() == 7381);
  CHECK(make_spd("balls:0").spheres.size() == 1);
  CHECK(make_spd("tetra").polygons.size() == 4096);
  CHECK(make_spd("gears:1").name == "gears:1");
  std::string const known = "; known: balls[:SIZE], gears[:SIZE][,ks=0.2], tetra[:SIZE]";
  CHECK_THROWS_WITH(make_spd("teapot"), "unknown scene \"teapot\"" + known);
  CHECK_THROWS_WITH(make_spd("balls:x"), "unknown scene \"balls:x\"" + known);
  CHECK_THROWS_WITH(make_spd("balls:2,ks=0.2"), "unknown scene \"balls:2,ks=0.2\"" + known);
  CHECK_THROWS_WITH(make_spd("gears:2,ks=0.3"), "unknown scene \"gears:2,ks=0.3\"" + known);
  CHECK_THROWS_WITH(make_spd("balls:9"), "balls needs a size of 0 to 8, found \"9\"");
  CHECK_THROWS_WITH(make_spd("tetra:0"), "tetra needs a size of 1 to 12, found \"0\"");
  CHECK_THROWS_WITH(make_spd("gears:99"), "gears needs a size of 1 to 40, found \"99\"");
}
