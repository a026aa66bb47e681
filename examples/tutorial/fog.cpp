// A volume rendered picture of values in memory: a ring of fog, printed as characters.
//     mpiexec -n 4 fog
#include <cmath>
#include <cstdio>
#include <skel/applications/render_grid.hpp>
#include <skel/skel.hpp>
#include <vector>

constexpr std::size_t n = 33;

constexpr char const* specification = R"({
  "size": [48, 48],
  "view": {"elevation": 40, "distance": 1},
  "mapping": {"color": [[0, "#ffffff"], [1, "#ffffff"]], "opacity": [[0.2, 0], [1, 0.2]]},
  "background": "none"
})";

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::vector<float> values;  // every rank computes the same
    auto const at = [](std::size_t i) { return -1 + 2.0 * static_cast<double>(i) / (n - 1); };
    for (std::size_t z = 0; z < n; ++z)
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t x = 0; x < n; ++x) {
          double const from_ring = std::hypot(std::hypot(at(x), at(y)) - 0.65, at(z));
          values.push_back(static_cast<float>(std::exp(-20 * from_ring * from_ring)));
        }
    auto const picture = volume::render_grid(ctx, {values, {n, n, n}}, specification);
    for (int y = 0; y < picture.height; y += 2) {  // characters are twice as high as wide
      for (int x = 0; x < picture.width; ++x) {
        float const opacity = picture.rgba[4 * static_cast<std::size_t>(y * picture.width + x) + 3];
        std::putchar(".,:-=+*#%@"[static_cast<int>(9.99F * opacity)]);
      }
      std::putchar('\n');
    }
  });
}
