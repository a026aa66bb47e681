// skel's renderer alone on one core: skel-bench-render SCENE [REPETITIONS] [ACCELERATOR] [IMAGE]
// [INSTRUCTIONS] [DEPTH] [ROWS]
// skel-bench-render rays SCENE [REPETITIONS] [INSTRUCTIONS]: rays without shading
// SCENE is balls:4, gears:4,ks=0.2, ... or a file.nff. ROWS is the height of the bands that are rendered at
// once.
#include <cstdlib>
#include <exception>

#include "image.hpp"
#include "measure.hpp"
#include "ray_sets.hpp"
#include "renderer.hpp"

using namespace raytrace;

namespace {

struct tracer {
  renderer const& with;

  void closest(std::span<ray const> rays, std::span<hit> hits, bool) const { with.closest(rays, hits); }
  void occluded(std::span<ray const> rays, std::span<float const> distances, std::span<bool> hidden) const {
    with.occluded(rays, distances, hidden);
  }
};

int measure_rays(int argc, char** argv) {
  auto const world = named_scene(argv[2]);
  settings how;
  if (argc > 4) how.instructions = argv[4];
  renderer const r(world, how);
  ray_sets(world, tracer{r}).measure("skel", argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: %s SCENE [REPETITIONS] [ACCELERATOR] [IMAGE] [INSTRUCTIONS] [DEPTH] [ROWS]\n",
                 argv[0]);
    return 2;
  }
  if (argc > 2 && std::string_view(argv[1]) == "rays") return measure_rays(argc, argv);
  auto const world = named_scene(argv[1]);
  int const repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  settings how;
  if (argc > 3) how.accelerator = accelerator_named(argv[3]);
  if (argc > 5) how.instructions = argv[5];
  if (argc > 6) how.depth = std::atoi(argv[6]);
  int const rows = argc > 7 ? std::atoi(argv[7]) : 1;
  picture::image picture(how.width, how.height);
  for (int i = 0; i < repetitions; ++i) {
    stopwatch const building;
    renderer const r(world, how);
    double const build = building.seconds();
    ray_counts counts;
    stopwatch const rendering;
    for (int y = 0; y < how.height; y += rows) {
      auto const into = std::span(picture.rgb)
                            .subspan(3 * static_cast<std::size_t>(y) * static_cast<std::size_t>(how.width));
      r.render_tile(0, y, how.width, std::min(y + rows, how.height), into, counts);
    }
    print_measurement("skel", argv[1], build, building, rendering, counts);
  }
  if (argc > 4 && argv[4][0] != '\0') write_image(argv[4], picture);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}
