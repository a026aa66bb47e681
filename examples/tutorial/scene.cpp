// A scene that is ray traced on all ranks: three balls over a floor, printed as characters.
//     mpiexec -n 4 scene
#include <cstdio>
#include <skel/applications/render_scene.hpp>
#include <skel/skel.hpp>

constexpr char const* scene = R"(v
from 2.2 -4 2.4
at 0 0 0.5
up 0 0 1
angle 35
hither 0.1
resolution 48 48
b 0 0 0
l 4 -3 6
f 1 1 1 0.9 0.1 20 0 0
s 0 0 0.9 0.9
s 1.2 -0.4 0.4 0.4
s -1 -0.8 0.5 0.5
f 0.5 0.5 0.5 1 0 1 0 0
p 4
-4 -4 0
4 -4 0
4 4 0
-4 4 0
)";

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const picture = raytrace::render_scene(ctx, scene, {.width = 48, .height = 48});
    for (int y = 0; y < picture.height; y += 2) {  // characters are twice as high as wide
      for (int x = 0; x < picture.width; ++x) {
        float const red = picture.rgb[3 * static_cast<std::size_t>(y * picture.width + x)];
        std::putchar(".,:-=+*#%@"[red >= 1 ? 9 : static_cast<int>(10 * red)]);
      }
      std::putchar('\n');
    }
  });
}
