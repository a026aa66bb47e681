// Writes a scene in Tachyon's own format, because its NFF reader does not support concave polygons
// and uses another field of view: skel-bench-tachyon-scene SCENE > scene.dat. Tachyon does not
// refract: glass becomes opacity, so its ray trees differ on gears.
#include <cmath>
#include <exception>
#include <numbers>

#include "geometry.hpp"
#include "measure.hpp"

using namespace raytrace;

namespace {

void put(char const* word, vec3d v) { std::printf("%s %.9g %.9g %.9g ", word, v.x, v.y, v.z); }
void put(char const* word, vec3f v) { put(word, to_double(v)); }

void write_frame(scene const& world, geometry const& shapes) {
  auto const& v = world.view;
  std::printf(
      "BEGIN_SCENE\nRESOLUTION 512 512\nCAMERA\nZOOM %.9g\nASPECTRATIO 1.0\nANTIALIASING 0\nRAYDEPTH 5\n",
      0.5 / std::tan(v.angle * std::numbers::pi / 360));
  put("CENTER", vec3d{});  // prepared scenes are relative to the eye
  put("\nVIEWDIR", v.at - v.from);
  put("\nUPDIR", v.up);
  std::printf("\nEND_CAMERA\n");
  put("BACKGROUND", world.background);
  for (auto const& l : shapes.lights) {
    put("\nLIGHT CENTER", l.position);
    std::printf("RAD 0.001 ");
    put("COLOR", l.color);
  }
  for (std::size_t i = 0; i < world.materials.size(); ++i) {
    auto const& m = world.materials[i];
    std::printf(
        "\nTEXDEF T%zu AMBIENT 0 DIFFUSE %.9g SPECULAR %.9g OPACITY %.9g PHONG PLASTIC %.9g PHONG_SIZE %.9g ",
        i, m.diffuse, m.specular, 1 - m.transmittance, m.specular, m.shine);
    put("COLOR", m.color);
    std::printf("TEXFUNC 0");
  }
}

void write_shapes(geometry const& shapes) {
  for (auto const& b : shapes.balls) {
    put("\nSPHERE CENTER", b.center);
    std::printf("RAD %.9g T%u", static_cast<double>(b.radius), shapes.surfaces[b.id].material);
  }
  for (std::size_t i = 0; i < shapes.facets.size(); ++i) {
    auto const* const corner = &shapes.hull_points[shapes.hull_first[i]];
    put("\nTRI V0", corner[0]);
    put("V1", corner[1]);
    put("V2", corner[2]);
    std::printf("T%u", shapes.surfaces[shapes.facets[i].id].material);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SCENE > scene.dat\n", argv[0]);
    return 2;
  }
  auto const world = named_scene(argv[1]);
  auto const shapes = prepare(world, true);
  if (!shapes.frusta.empty()) throw scene_error("cones are not supported by this converter");
  write_frame(world, shapes);
  write_shapes(shapes);
  std::printf("\nEND_SCENE\n");
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}
