#include "task_size.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "skel/broadcast.hpp"
#include "stopwatch.hpp"
#include "tiles.hpp"

namespace skel::volume {

namespace {

using clock = std::chrono::steady_clock;

double pixel_seconds(renderer const& picture) {
  constexpr std::uint64_t most = 256;
  constexpr double enough = 5e-3;
  auto const all = picture.tiling().tiles();
  auto const count = std::min(all, most);
  work_counts counts;
  auto const start = clock::now();
  std::uint64_t done = 0;
  // 97 and 256 have no common factor: the first of them are all over the picture, too.
  for (; done < count && (done < 8 || seconds_since(start) < enough); ++done)
    static_cast<void>(picture.tile(done * 97 % count * all / count, counts));
  return seconds_since(start) / static_cast<double>(done * tile_pixels);
}

double task_seconds(context& ctx, any_schedule const& schedule, farm_options const& options) {
  auto const workers = static_cast<std::uint64_t>(ctx.size());
  auto const run = [&](std::uint64_t tasks) {
    auto const empty = [](std::uint64_t) {
      sub_image s;
      s.pixels.resize(64);
      return s;
    };
    return farm(
               ctx, indices(tasks), empty, schedule, [](task_id, sub_image&&) {}, options)
        .seconds;
  };
  auto const few = 32 * workers, many = 512 * workers;
  static_cast<void>(run(few));  // the first messages of all
  double const base = run(few);
  return (run(many) - base) / static_cast<double>(many - few) * static_cast<double>(workers);
}

}  // namespace

int best_task_size(std::uint64_t pixels, int workers, farm_costs const& costs) {
  auto const all = static_cast<double>(pixels), each = static_cast<double>(workers);
  constexpr double tile = tile_pixels;
  double const best = std::sqrt(2 * all * costs.seconds_per_task / (each * costs.seconds_per_pixel));
  double const most = std::max(tile, all / (4 * each));
  double const size = std::isfinite(best) ? std::clamp(best, tile, most) : most;
  return static_cast<int>(std::min(1e8, tile * std::round(size / tile)));
}

farm_costs measure_costs(context& ctx, renderer const& picture, any_schedule const& schedule,
                         farm_options const& options) {
  auto quiet = ctx.beside();
  farm_costs costs;
  costs.seconds_per_task = std::max(1e-7, task_seconds(quiet, schedule, options));
  auto const measured = broadcast(quiet, on_root([&] {
                                    costs.seconds_per_pixel = std::max(1e-10, pixel_seconds(picture));
                                    return costs;
                                  }));
  return measured.value_or(costs);
}

}  // namespace skel::volume
