#include "pixels.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "program/text.hpp"
#include "skel/error.hpp"

namespace raytrace {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<rectangle> cut_picture(std::string_view unit, int width, int height) {
  int tile_width = width;
  int tile_height = 1;
  if (unit != "rows") {
    constexpr std::string_view prefix = "tiles:";
    auto const n = skel::program::to_number<int>(unit.substr(std::min(unit.size(), prefix.size())));
    if (!unit.starts_with(prefix) || n.value_or(0) < 1)
      throw skel::usage_error("a unit of work is \"rows\" or \"tiles:N\" (N x N pixels), found \"" +
                              std::string(unit) + "\"");
    tile_width = tile_height = *n;
  }
  std::vector<rectangle> cut;
  for (int y = 0; y < height; y += tile_height)
    for (int x = 0; x < width; x += tile_width)
      cut.push_back({x, y, std::min(x + tile_width, width), std::min(y + tile_height, height)});
  return cut;
}

pixels render(renderer const& picture, rectangle const& r, bool time_pixels) {
  auto const start = std::chrono::steady_clock::now();
  pixels p;
  p.rgb.resize(3 * static_cast<std::size_t>(r.width()) * static_cast<std::size_t>(r.height()));
  if (!time_pixels) {
    picture.render_tile(r.x0, r.y0, r.x1, r.y1, p.rgb, p.rays);
  } else {
    std::size_t at = 0;
    for (int y = r.y0; y < r.y1; ++y)
      for (int x = r.x0; x < r.x1; ++x, ++at) {
        auto const begin = std::chrono::steady_clock::now();
        picture.render_tile(x, y, x + 1, y + 1, std::span(p.rgb).subspan(3 * at, 3), p.rays);
        p.pixel_seconds.push_back(static_cast<float>(seconds_since(begin)));
      }
  }
  p.seconds = seconds_since(start);
  return p;
}

void paste(picture::image& into, rectangle const& r, pixels const& p) {
  auto const w = static_cast<std::size_t>(r.width()) * 3;
  for (int y = r.y0; y < r.y1; ++y) {
    auto const from = std::span(p.rgb).subspan(static_cast<std::size_t>(y - r.y0) * w, w);
    std::copy(from.begin(), from.end(), into.row(y).begin() + 3 * r.x0);
  }
}

void mark(picture::image& into, rectangle const& r) {
  for (int y = r.y0; y < r.y1; ++y)
    for (int x = r.x0; x < r.x1; ++x)
      std::ranges::copy(picture::missing_colour, into.row(y).begin() + std::ptrdiff_t{3} * x);
}

}  // namespace raytrace
