#include "slab_rays.hpp"

#include <algorithm>
#include <array>

#include "skel/error.hpp"

namespace volume {

bool meets(tile_state const& s, slab const& part) {
  if (s.begun == 0) return true;
  for (std::size_t l = 0; l < tile_pixels; ++l)
    if ((s.alive >> l & 1U) != 0 && s.cell[2][l] >= static_cast<int>(part.first) &&
        s.cell[2][l] < static_cast<int>(part.end))
      return true;
  return false;
}

void require_exact_rule_without_times(job const& what) {
  if (what.spec.rule == rule::trapezoid)
    throw skel::usage_error("--slabs: expected the rule \"exact\", found \"trapezoid\"");
  if (what.time_rays) throw skel::usage_error("--ray-statistics: requires the whole grid, expected no slabs");
}

camera view_of(surveyed_grid const& grid, job const& what, int frame) {
  vec3 low{}, sides{};
  for (std::size_t d = 0; d < 3; ++d) {
    auto const& c = grid.whole.coordinates[d];
    low[d] = c.front() * what.spec.stretch[d];
    sides[d] = (c.back() - c.front()) * what.spec.stretch[d];
  }
  return make_camera(what.spec, low, sides, what.spec.width, what.spec.height, 360.0 * frame / what.frames);
}

std::vector<std::size_t> order_of(surveyed_grid const& grid, job const& what, int frame) {
  std::vector<double> planes;
  for (auto const z : grid.whole.coordinates[2])
    planes.push_back((z - grid.whole.coordinates[2].front()) * what.spec.stretch[2]);
  return front_to_back(grid.slabs, planes, view_of(grid, what, frame));
}

picture::transparent_image picture_of(std::vector<tile_state> const& states, int width, int height) {
  tiling const tiles(width, height);
  picture::transparent_image image(width, height);
  for (std::uint64_t t = 0; t < states.size(); ++t) {
    auto const pixels = pixels_of(states[t]);
    tiles.each_pixel(t, [&](int lane, int x, int y) {
      auto const& p = pixels[static_cast<std::size_t>(lane)];
      auto const at =
          4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
      std::ranges::copy(std::array{p.red, p.green, p.blue, p.opacity},
                        image.rgba.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }
  return image;
}

}  // namespace volume
