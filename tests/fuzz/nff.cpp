// libFuzzer: any bytes give a scene or a scene_error, and scenes can be rendered.
#include "nff.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "renderer.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace raytrace;
  try {
    auto const s = parse_nff({reinterpret_cast<char const*>(data), size}, "fuzz");
    settings how;
    how.width = how.height = 3;
    how.depth = 3;
    std::vector<float> rgb(3 * 3 * 3);
    ray_counts counts;
    renderer(s, how).render_tile(0, 0, 3, 3, rgb, counts);
  } catch (scene_error const&) {
  }
  return 0;
}
