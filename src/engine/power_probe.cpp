#include "power_probe.hpp"

#include <algorithm>
#include <cstdint>

#include "engine.hpp"

namespace skel::detail {

double measured_power() {
  constexpr int runs = 5;
  constexpr int steps = 100000;
  double best = 0;
  std::uint64_t bits = 88172645463325252ULL;
  double sum = 0;
  for (int r = 0; r < runs; ++r) {
    double const begin = now();
    for (int i = 0; i < steps; ++i) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
      sum = sum * 0.5 + static_cast<double>(bits >> 40);
    }
    best = std::max(best, steps / std::max(1e-9, (now() - begin) * 1e6));
  }
  // The result takes part, so that the loop cannot be left out.
  return sum > 0 ? best : best * 0.999;
}

}  // namespace skel::detail
