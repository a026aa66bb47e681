// The farm's tasks and results: rectangles of the picture, their pixels and costs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "image.hpp"
#include "renderer.hpp"
#include "skel/transfer.hpp"

namespace raytrace {

/// Pixels x0 <= x < x1, y0 <= y < y1.
struct rectangle {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  [[nodiscard]] int width() const { return x1 - x0; }
  [[nodiscard]] int height() const { return y1 - y0; }
};

/// Cuts a picture into "rows" (one row each, the scan lines of [Lee97]) or "tiles:N" (N x N
/// pixels). Throws usage_error for another unit.
std::vector<rectangle> cut_picture(std::string_view unit, int width, int height);

struct pixels {
  std::vector<float> rgb;  ///< pixels of the rectangle, row by row
  ray_counts rays;
  double seconds = 0;                ///< seconds of this rectangle
  std::vector<float> pixel_seconds;  ///< seconds of each pixel, if requested
};

/// Renders one rectangle. If `time_pixels` is set, renders and times pixel by pixel.
pixels render(renderer const& picture, rectangle const& r, bool time_pixels);

/// Copies the pixels of a rectangle into a picture.
void paste(picture::image& into, rectangle const& r, pixels const& p);
/// Marks a rectangle whose task was left out.
void mark(picture::image& into, rectangle const& r);

}  // namespace raytrace

template <>
struct skel::transfer_traits<raytrace::pixels> {
  static void pack(raytrace::pixels const& p, std::vector<std::byte>& out) {
    skel::pack(p.rays, out);
    skel::pack(p.seconds, out);
    skel::pack(p.rgb, out);
    skel::pack(p.pixel_seconds, out);
  }
  static void pack_compared(raytrace::pixels const& p, std::vector<std::byte>& out) {  // no times
    skel::pack(p.rays, out);
    skel::pack(p.rgb, out);
  }
  static raytrace::pixels unpack(std::span<std::byte const>& in) {
    raytrace::pixels p;
    p.rays = skel::unpack<raytrace::ray_counts>(in);
    p.seconds = skel::unpack<double>(in);
    p.rgb = skel::unpack<std::vector<float>>(in);
    p.pixel_seconds = skel::unpack<std::vector<float>>(in);
    return p;
  }
};
