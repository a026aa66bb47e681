// skel's renderer alone on one core: skel-bench-render SCENE [REPETITIONS] [ACCELERATOR] [IMAGE]
// [INSTRUCTIONS]
// SCENE is balls:4, gears:4,ks=0.2, ... or a file.nff.
#include <cstdlib>
#include <exception>

#include "image.hpp"
#include "measure.hpp"
#include "renderer.hpp"

using namespace raytrace;

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SCENE [REPETITIONS] [ACCELERATOR] [IMAGE] [INSTRUCTIONS]\n", argv[0]);
    return 2;
  }
  auto const world = named_scene(argv[1]);
  int const repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  settings how;
  if (argc > 3) how.accelerator = accelerator_named(argv[3]);
  if (argc > 5) how.instructions = argv[5];
  picture::image picture(how.width, how.height);
  for (int i = 0; i < repetitions; ++i) {
    stopwatch const building;
    renderer const r(world, how);
    double const build = building.seconds();
    ray_counts counts;
    stopwatch const rendering;
    for (int y = 0; y < how.height; ++y) r.render_row(y, picture.row(y), counts);
    print_measurement("skel", argv[1], build, rendering.seconds(), building.cpu_seconds(), counts);
  }
  if (argc > 4 && argv[4][0] != '\0') write_image(argv[4], picture);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}
