// Shared by the tests of the model.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "observe/support.hpp"
#include "skel/model/fit.hpp"

namespace test {

/// Normal variates by Box and Muller; the standard library's differ between implementations.
class dice {
 public:
  explicit dice(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  double normal();
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }

 private:
  std::mt19937_64 bits_;
};

/// Solves least squares by the normal equations in long double, independently of the library.
std::vector<double> normal_equations(std::vector<std::vector<double>> const& rows,
                                     std::vector<double> const& values, std::vector<double> const& weights);

}  // namespace test
