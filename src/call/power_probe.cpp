#include "power_probe.hpp"

#include <chrono>
#include <cstdint>

namespace skel::detail {

double measured_power() {
  using clock = std::chrono::steady_clock;
  constexpr auto least = std::chrono::milliseconds(20);
  constexpr int steps = 10000;
  std::uint64_t bits = 88172645463325252ULL;
  double sum = 0;
  std::uint64_t done = 0;
  auto const begin = clock::now();
  auto now = begin;
  for (; now - begin < least; now = clock::now(), done += steps)
    for (int i = 0; i < steps; ++i) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
      sum = sum * 0.5 + static_cast<double>(bits >> 40);
    }
  double const power =
      static_cast<double>(done) / std::chrono::duration<double, std::micro>(now - begin).count();
  // Using the result keeps the loop from being optimised away.
  return sum > 0 ? power : power * 0.999;
}

}  // namespace skel::detail
