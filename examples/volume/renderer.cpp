#include "renderer.hpp"

#include <cmath>
#include <limits>

#include "paper_rule.hpp"
#include "skel/error.hpp"

namespace volume {

namespace {

kernel const& chosen(std::string const& instructions) {
  if (instructions.empty()) return *kernels().front();
  if (auto const* const found = find_kernel(instructions)) return *found;
  throw skel::usage_error("--instructions: not available on this processor: \"" + instructions + "\"");
}

void put(tile_rays& to, int lane, camera::ray const& ray) {
  for (std::size_t d = 0; d < 3; ++d) {
    to.from[d][lane] = ray.from[d];
    to.direction[d][lane] = ray.direction[d];
  }
}

/// The least visible distance on a ray: 0 at the eye, unbounded if the rays are parallel.
double least(camera const& c) { return c.parallel ? -std::numeric_limits<double>::max() : 0; }

}  // namespace

renderer::renderer(prepared_volume const& volume, specification const& spec, camera const& view,
                   std::string const& instructions)
    : volume_(volume), spec_(spec), camera_(view), tiling_(view.width, view.height) {
  auto const& code = chosen(instructions);
  kernel_ = spec.light ? code.lit : code.plain;
}

camera::ray renderer::ray_of(std::uint64_t tile, int lane) const {
  int const x = tiling_.left(tile) + lane % tile_width, y = tiling_.top(tile) + lane / tile_width;
  return camera_.through(x + 0.5, y + 0.5);
}

void renderer::take_through(std::uint64_t number, tile_state& state, work_counts& counts) const {
  tile_rays rays{};
  rays.least = least(camera_);
  for (int lane = 0; lane < tile_pixels; ++lane) put(rays, lane, ray_of(number, lane));
  kernel_(volume_.view(), rays, state, counts);
}

std::array<rgba, tile_pixels> renderer::tile(std::uint64_t number, work_counts& counts) const {
  if (spec_.rule == rule::trapezoid) {
    std::array<rgba, tile_pixels> pixels{};
    tiling_.each_pixel(number, [&](int lane, int, int) {
      pixels[static_cast<std::size_t>(lane)] =
          trapezoid_along(volume_, spec_, ray_of(number, lane), least(camera_), counts);
    });
    return pixels;
  }
  tile_state state;
  take_through(number, state, counts);
  return pixels_of(state);
}

rgba renderer::along(camera::ray const& ray, work_counts& counts) const {
  if (spec_.rule == rule::trapezoid) return trapezoid_along(volume_, spec_, ray, least(camera_), counts);
  tile_rays rays{};
  rays.least = least(camera_);
  // Idle lanes point away from the volume.
  camera::ray const away{{-1e6, -1e6, -1e6}, {-1, 0, 0}};
  for (int lane = 1; lane < tile_pixels; ++lane) put(rays, lane, away);
  put(rays, 0, ray);
  tile_state state;
  kernel_(volume_.view(), rays, state, counts);
  return pixels_of(state)[0];
}

std::array<rgba, tile_pixels> pixels_of(tile_state const& state) {
  std::array<rgba, tile_pixels> pixels{};
  for (std::size_t l = 0; l < tile_pixels; ++l)
    pixels[l] = {state.color[0][l], state.color[1][l], state.color[2][l], 1 - state.transparency[l]};
  return pixels;
}

bool renderer::hits(camera::ray const& ray) const {
  double near = least(camera_);
  double far = std::numeric_limits<double>::max();
  for (std::size_t d = 0; d < 3; ++d) {
    if (ray.direction[d] == 0) {
      if (ray.from[d] < 0 || ray.from[d] > volume_.sides()[d]) return false;
      continue;
    }
    double const a = -ray.from[d] / ray.direction[d],
                 b = (volume_.sides()[d] - ray.from[d]) / ray.direction[d];
    near = std::max(near, std::min(a, b));
    far = std::min(far, std::max(a, b));
  }
  return near < far;
}

}  // namespace volume
