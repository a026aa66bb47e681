// Seconds since a moment.
#pragma once

#include <chrono>

namespace skel::volume {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace skel::volume
