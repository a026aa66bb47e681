#include "renderer.hpp"

#include <cmath>
#include <limits>

#include "paper_rule.hpp"
#include "skel/error.hpp"

namespace skel::volume {

namespace {

kernel const& chosen(std::string const& instructions) {
  if (instructions.empty()) return best_kernel();
  if (auto const* const found = find_kernel(instructions.c_str())) return *found;
  throw usage_error("this processor has no instructions \"" + instructions + "\"");
}

void put(packet& to, int lane, camera::ray const& ray) {
  for (std::size_t d = 0; d < 3; ++d) {
    to.from[d][lane] = ray.from[d];
    to.direction[d][lane] = ray.direction[d];
  }
}

/// The nearest place on a ray that is seen: the eye, or nowhere if the rays are parallel.
double least(camera const& c) { return c.parallel ? -std::numeric_limits<double>::max() : 0; }

}  // namespace

renderer::renderer(prepared_volume const& volume, specification const& spec, camera const& view,
                   std::string const& instructions)
    : volume_(volume), spec_(spec), camera_(view), tiling_(view.width, view.height) {
  auto const& code = chosen(instructions);
  kernel_ = spec.light ? code.lit : code.plain;
}

void renderer::integrate(packet const& rays, float (*out)[tile_pixels], work_counts& counts) const {
  kernel_(volume_.view(), rays, out, counts);
}

std::array<rgba, tile_pixels> renderer::tile(std::uint64_t number, work_counts& counts) const {
  std::array<rgba, tile_pixels> pixels{};
  int const left = tiling_.left(number), top = tiling_.top(number);
  auto const ray = [&](int lane) {
    int const x = left + lane % tile_width, y = top + lane / tile_width;
    return camera_.through(x + 0.5, y + 0.5);
  };
  if (spec_.rule == rule::trapezoid) {
    tiling_.each_pixel(number, [&](int lane, int, int) {
      pixels[static_cast<std::size_t>(lane)] =
          trapezoid_along(volume_, spec_, ray(lane), least(camera_), counts);
    });
    return pixels;
  }
  packet rays{};
  rays.least = least(camera_);
  for (int lane = 0; lane < tile_pixels; ++lane) put(rays, lane, ray(lane));
  alignas(32) float out[4][tile_pixels];
  integrate(rays, out, counts);
  for (std::size_t l = 0; l < tile_pixels; ++l) pixels[l] = {out[0][l], out[1][l], out[2][l], out[3][l]};
  return pixels;
}

rgba renderer::along(camera::ray const& ray, work_counts& counts) const {
  if (spec_.rule == rule::trapezoid) return trapezoid_along(volume_, spec_, ray, least(camera_), counts);
  packet rays{};
  rays.least = least(camera_);
  // The idle lanes look away from the volume.
  camera::ray const away{{-1e6, -1e6, -1e6}, {-1, 0, 0}};
  for (int lane = 1; lane < tile_pixels; ++lane) put(rays, lane, away);
  put(rays, 0, ray);
  alignas(32) float out[4][tile_pixels];
  integrate(rays, out, counts);
  return {out[0][0], out[1][0], out[2][0], out[3][0]};
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

}  // namespace skel::volume
