// Renders tiles of one picture of one volume, the unit of work of the farm.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "camera.hpp"
#include "kernel.hpp"
#include "prepared_volume.hpp"

namespace volume {

/// Premultiplied colour and opacity, each from 0 to 1.
struct rgba {
  float red = 0, green = 0, blue = 0, opacity = 0;
};

/// Returns the gain of a tile's rays.
[[nodiscard]] std::array<rgba, tile_pixels> pixels_of(tile_state const& state);

/// Cuts a picture into tiles of 4 x 4 pixels, numbered row by row. The bytes of a tile do not
/// depend on which rank renders it or together with which others.
class tiling {
 public:
  tiling(int width, int height)
      : width_(width),
        height_(height),
        columns_((width + tile_width - 1) / tile_width),
        rows_((height + tile_height - 1) / tile_height) {}

  [[nodiscard]] std::uint64_t tiles() const {
    return static_cast<std::uint64_t>(columns_) * static_cast<std::uint64_t>(rows_);
  }
  [[nodiscard]] int left(std::uint64_t tile) const {
    return static_cast<int>(tile % static_cast<std::uint64_t>(columns_)) * tile_width;
  }
  [[nodiscard]] int top(std::uint64_t tile) const {
    return static_cast<int>(tile / static_cast<std::uint64_t>(columns_)) * tile_height;
  }
  /// Calls f(lane, x, y) for the tile's pixels that lie in the picture.
  template <class F>
  void each_pixel(std::uint64_t tile, F&& f) const {
    for (int lane = 0; lane < tile_pixels; ++lane) {
      int const x = left(tile) + lane % tile_width, y = top(tile) + lane / tile_width;
      if (x < width_ && y < height_) f(lane, x, y);
    }
  }

 private:
  int width_, height_, columns_, rows_;
};

/// Thread-safe for const use.
///
///     volume::specification const spec = volume::read_specification("storm.json");
///     volume::prepared_volume const volume(volume_data::read_grid("wind.vtr"), spec);
///     auto const view = volume::make_camera(spec, volume.low(), volume.sides(), 500, 500);
///     volume::renderer const picture(volume, spec, view);
///     volume::work_counts counts;
///     auto const pixels = picture.tile(0, counts);
class renderer {
 public:
  /// `instructions`: name of a kernel (kernel.hpp); empty: the best available.
  renderer(prepared_volume const& volume, specification const& spec, camera const& view,
           std::string const& instructions = "");

  [[nodiscard]] std::array<rgba, tile_pixels> tile(std::uint64_t number, work_counts& counts) const;
  /// Takes the tile's rays through the slices of this volume, a slab. Exact rule only.
  void take_through(std::uint64_t number, tile_state& state, work_counts& counts) const;
  /// Renders a single ray, for tests and statistics. With the exact rule all lanes but the first
  /// are idle.
  [[nodiscard]] rgba along(camera::ray const& ray, work_counts& counts) const;
  /// Whether a ray meets the grid's box.
  [[nodiscard]] bool hits(camera::ray const& ray) const;

  [[nodiscard]] volume::tiling const& tiling() const noexcept { return tiling_; }
  [[nodiscard]] camera const& view() const noexcept { return camera_; }

 private:
  [[nodiscard]] camera::ray ray_of(std::uint64_t tile, int lane) const;

  prepared_volume const& volume_;
  specification const& spec_;
  camera camera_;
  volume::tiling tiling_;
  kernel_function kernel_;
};

}  // namespace volume
