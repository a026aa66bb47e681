#include "tiles.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "skel/error.hpp"
#include "stopwatch.hpp"

namespace volume {

task_cutter::decomposition task_cutter::named(std::string_view text) {
  if (text == "scattered") return decomposition::scattered;
  if (text == "blocks") return decomposition::blocks;
  throw skel::usage_error("unknown decomposition \"" + std::string(text) + "\"; known: scattered, blocks");
}

task_cutter::task_cutter(int width, int height, decomposition how, int pixels)
    : columns_(static_cast<std::uint64_t>((width + tile_width - 1) / tile_width)),
      rows_(static_cast<std::uint64_t>((height + tile_height - 1) / tile_height)) {
  constexpr int blocks_of_task = 32;  // scattered: minimum number
  bool const scattered = how == decomposition::scattered;
  auto const side = std::sqrt(scattered ? static_cast<double>(pixels) / blocks_of_task : pixels);
  auto const tiles_in = [side](int tile) {
    return static_cast<std::uint64_t>(std::max(1L, std::lround(side / tile)));
  };
  block_columns_ = tiles_in(tile_width);
  block_rows_ = tiles_in(tile_height);
  auto const blocks =
      ((columns_ + block_columns_ - 1) / block_columns_) * ((rows_ + block_rows_ - 1) / block_rows_);
  auto const all = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  auto const each = static_cast<std::uint64_t>(pixels);
  tasks_ = scattered ? std::min((all + each - 1) / each, blocks) : blocks;
}

sub_image render(renderer const& picture, task_cutter const& cut, std::uint64_t task, bool time_rays) {
  sub_image s;
  double const begin = thread_seconds();
  cut.each_tile(task, [&](std::uint64_t tile) {
    auto const pixels = picture.tile(tile, s.counts);
    picture.tiling().each_pixel(tile, [&](int lane, int x, int y) {
      s.pixels.push_back(pixels[static_cast<std::size_t>(lane)]);
      if (!time_rays) return;
      auto const start = std::chrono::steady_clock::now();
      auto const ray = picture.view().through(x + 0.5, y + 0.5);
      work_counts uncounted;
      static_cast<void>(picture.along(ray, uncounted));
      auto const seconds = std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
      s.rays.push_back({seconds, picture.hits(ray) ? 1U : 0U});
    });
  });
  s.seconds = thread_seconds() - begin;
  return s;
}

}  // namespace volume
