#include "task_size.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "stopwatch.hpp"
#include "tiles.hpp"

namespace volume {

double pixel_seconds(renderer const& picture) {
  constexpr std::uint64_t most = 256;
  constexpr double enough = 5e-3;
  auto const all = picture.tiling().tiles();
  auto const count = std::min(all, most);
  work_counts counts;
  auto const start = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  // 97 and 256 have no common factor, so the samples are spread over the picture from the start.
  for (; done < count && (done < 8 || seconds_since(start) < enough); ++done)
    static_cast<void>(picture.tile(done * 97 % count * all / count, counts));
  return seconds_since(start) / static_cast<double>(done * tile_pixels);
}

int best_task_size(std::uint64_t pixels, double seconds_per_pixel, int workers,
                   skel::model::machine_at const* where) {
  constexpr double tile = tile_pixels, most = 1e8;
  double const best = skel::model::best_task_units(
      {static_cast<double>(pixels), seconds_per_pixel, sizeof(rgba), workers}, where);
  return static_cast<int>(std::clamp(tile * std::round(best / tile), tile, most));
}

}  // namespace volume
