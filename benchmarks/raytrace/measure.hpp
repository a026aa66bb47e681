// Shared by the ray tracing benchmark programs: their arguments and their output line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "nff.hpp"
#include "shading.hpp"
#include "spd.hpp"

namespace raytrace {

inline scene named_scene(std::string const& name) {
  return name.ends_with(".nff") ? read_nff(name) : make_spd(name);
}

class stopwatch {
 public:
  /// CPU seconds of this process only, for machines with other load.
  [[nodiscard]] double cpu_seconds() const {
    return static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t cpu_start_ = std::clock();
};

/// Prints one line per picture for raytrace.py; seconds are those of one core.
inline void print_measurement(char const* program, std::string const& scene_name, double build, double render,
                              double cpu, ray_counts const& c) {
  std::printf(
      "program=%s scene=%s build_seconds=%.6f render_seconds=%.6f cpu_seconds=%.6f primary=%llu hits=%llu "
      "shadow=%llu "
      "reflected=%llu "
      "refracted=%llu\n",
      program, scene_name.c_str(), build, render, cpu, static_cast<unsigned long long>(c.primary),
      static_cast<unsigned long long>(c.primary_hits), static_cast<unsigned long long>(c.shadow),
      static_cast<unsigned long long>(c.reflected), static_cast<unsigned long long>(c.refracted));
}

}  // namespace raytrace
