// Millions of rays per second, without shading: primary rays; from their hits shadow rays to each light and
// rays in random directions. Shared by the programs, so that both trace the same kinds of rays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

namespace raytrace {

/// Traces rays in the order of blocks of 4 x 4 pixels. Tracer:
///     void closest(std::span<ray const>, std::span<hit>, bool alike);  // alike: neighbours are coherent
///     void occluded(std::span<ray const>, std::span<float const> distances, std::span<bool>);
template <class Tracer>
class ray_sets {
 public:
  ray_sets(scene const& world, Tracer tracer) : world_(world), tracer_(tracer) {}

  /// Prints a line for each kind of rays.
  void measure(char const* program, std::string const& scene_name, int repetitions) {
    std::vector<ray> rays;
    auto const eye = make_camera(world_.view, side, side);
    for (int y = 0; y < side; y += 4)
      for (int x = 0; x < side; x += 4)
        for (int k = 0; k < 16; ++k) rays.push_back(eye.through(x + k % 4, y + k / 4));
    auto const hits = found(rays, true);
    std::vector<std::vector<ray>> to_light;
    std::vector<std::vector<float>> distances;
    for (auto const& l : world_.lights) {
      auto const light = to_float(l.position - world_.view.from);
      to_light.emplace_back();
      distances.emplace_back();
      for (std::size_t i = 0; i < rays.size(); ++i) {
        if (hits[i].id == no_hit) continue;
        auto const from = before(rays[i], hits[i]);
        distances.back().push_back(length(light - from));
        to_light.back().push_back({from, normalized(light - from)});
      }
    }
    std::vector<ray> scattered;
    for (std::size_t i = 0; i < rays.size(); ++i)
      if (hits[i].id != no_hit) scattered.push_back({before(rays[i], hits[i]), anywhere(rays[i].direction)});

    for (int i = 0; i < repetitions; ++i) {
      stopwatch const primary;
      auto const first = found(rays, true);
      print(program, scene_name, "primary", primary, rays.size(), hit_count(first));
      std::size_t shadow_rays = 0, stopped = 0;
      auto const hidden = std::make_unique<bool[]>(rays.size());
      stopwatch const shadow;
      for (std::size_t l = 0; l < to_light.size(); ++l) {
        std::span const stops(hidden.get(), to_light[l].size());
        tracer_.occluded(to_light[l], distances[l], stops);
        shadow_rays += stops.size();
        stopped += static_cast<std::size_t>(std::count(stops.begin(), stops.end(), true));
      }
      print(program, scene_name, "shadow", shadow, shadow_rays, stopped);
      stopwatch const incoherent;
      auto const last = found(scattered, false);
      print(program, scene_name, "incoherent", incoherent, scattered.size(), hit_count(last));
    }
  }

 private:
  static constexpr int side = 512;

  std::vector<hit> found(std::vector<ray> const& rays, bool alike) {
    std::vector<hit> hits(rays.size());
    tracer_.closest(rays, hits, alike);
    return hits;
  }

  // On the ray's side of the surface.
  static vec3f before(ray const& r, hit const& h) { return r.origin + (0.9999F * h.t) * r.direction; }

  // Uniform in the half space that the ray comes from.
  vec3f anywhere(vec3f direction) {
    for (;;) {
      vec3f const v{unit(), unit(), unit()};
      float const square = dot(v, v);
      if (square > 1 || square < 0.01F) continue;
      return normalized(dot(v, direction) < 0 ? v : -v);
    }
  }
  float unit() {  // the same numbers with every standard library
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40) / 8388608.0F - 1;
  }

  static std::size_t hit_count(std::vector<hit> const& hits) {
    return static_cast<std::size_t>(
        std::count_if(hits.begin(), hits.end(), [](hit const& h) { return h.id != no_hit; }));
  }

  static void print(char const* program, std::string const& scene_name, char const* kind,
                    stopwatch const& since, std::size_t rays, std::size_t hits) {
    double const seconds = since.cpu_seconds();
    std::printf("program=%s scene=%s kind=%s rays=%zu hits=%zu cpu_seconds=%.6f mrays=%.3f\n", program,
                scene_name.c_str(), kind, rays, hits, seconds, 1e-6 * static_cast<double>(rays) / seconds);
  }

  scene const& world_;
  Tracer tracer_;
  std::uint64_t state_ = 1;
};

}  // namespace raytrace
