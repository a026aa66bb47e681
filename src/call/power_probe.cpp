#include "power_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace skel::detail {

double measured_power() {
  constexpr int runs = 5;
  constexpr int steps = 100000;
  double best = 0;
  std::uint64_t bits = 88172645463325252ULL;
  double sum = 0;
  for (int r = 0; r < runs; ++r) {
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
      sum = sum * 0.5 + static_cast<double>(bits >> 40);
    }
    std::chrono::duration<double, std::micro> const used = std::chrono::steady_clock::now() - begin;
    best = std::max(best, steps / std::max(1e-9, used.count()));
  }
  // Using the result keeps the loop from being optimised away.
  return sum > 0 ? best : best * 0.999;
}

}  // namespace skel::detail
