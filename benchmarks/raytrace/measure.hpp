// Shared by the ray tracing benchmark programs: their arguments and their output line.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "clock.hpp"
#include "nff.hpp"
#include "shading.hpp"
#include "spd.hpp"

namespace raytrace {

inline scene named_scene(std::string const& name) {
  return name.ends_with(".nff") ? read_nff(name) : make_spd(name);
}

class stopwatch {
 public:
  [[nodiscard]] double cpu_seconds() const { return bench::processor_seconds() - cpu_start_; }
  [[nodiscard]] double seconds() const { return bench::seconds() - start_; }

 private:
  double start_ = bench::seconds(), cpu_start_ = bench::processor_seconds();
};

/// Prints one line per picture for raytrace.py; seconds are those of one core. `building` ran from the start,
/// for `build` seconds until `rendering` started.
inline void print_measurement(char const* program, std::string const& scene_name, double build,
                              stopwatch const& building, stopwatch const& rendering, ray_counts const& c) {
  std::printf(
      "program=%s scene=%s build_seconds=%.6f render_seconds=%.6f cpu_seconds=%.6f render_cpu_seconds=%.6f "
      "primary=%llu hits=%llu shadow=%llu reflected=%llu refracted=%llu\n",
      program, scene_name.c_str(), build, rendering.seconds(), building.cpu_seconds(),
      rendering.cpu_seconds(), static_cast<unsigned long long>(c.primary),
      static_cast<unsigned long long>(c.primary_hits), static_cast<unsigned long long>(c.shadow),
      static_cast<unsigned long long>(c.reflected), static_cast<unsigned long long>(c.refracted));
}

}  // namespace raytrace
