// Renders tiles of one picture of one volume: the piece of work that a farm deals out.
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

/// Premultiplied: colour times opacity, and opacity, 0 to 1.
struct rgba {
  float red = 0, green = 0, blue = 0, opacity = 0;
};

/// The gain of a tile's rays.
[[nodiscard]] std::array<rgba, tile_pixels> pixels_of(tile_state const& state);

/// A picture is cut into tiles of 4 x 4 pixels, numbered row by row. The bytes of a tile do not depend
/// on who renders it, or with what else.
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
  /// Calls f(lane, x, y) for the tile's pixels that are in the picture.
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

/// Const, and may be called from many threads at once.
///
///     volume::specification const spec = volume::read_specification("storm.json");
///     volume::prepared_volume const volume(volume_data::read_grid("wind.vtr"), spec);
///     volume::renderer const picture(volume, spec, volume::make_camera(spec, volume.low(),
///     volume.sides(), 500, 500)); volume::work_counts counts; auto const pixels = picture.tile(0,
///     counts);
class renderer {
 public:
  /// `instructions`: name of a kernel (kernel.hpp); empty: the best there is.
  renderer(prepared_volume const& volume, specification const& spec, camera const& view,
           std::string const& instructions = "");

  [[nodiscard]] std::array<rgba, tile_pixels> tile(std::uint64_t number, work_counts& counts) const;
  /// The tile's rays through the slices of the volume that are here: tile() by slabs. With the exact rule
  /// only.
  void take_through(std::uint64_t number, tile_state& state, work_counts& counts) const;
  /// Any ray through the volume, for tests and statistics; with the exact rule all lanes but the first are
  /// idle.
  [[nodiscard]] rgba along(camera::ray const& ray, work_counts& counts) const;
  /// Whether a ray meets the grid's box at all.
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
