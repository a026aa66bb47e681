// Finds the point where a cubic takes a value.
#pragma once

#include <array>

namespace isosurface {

/// Returns t in [0, 1] at which the cubic with these Bernstein coefficients has the value, which
/// must lie between its first and last one. Uses Newton's method, safeguarded by bisection. Returns
/// one of three solutions, if there are three.
[[nodiscard]] double edge_root(std::array<double, 4> const& b, double value);

[[nodiscard]] inline double cubic(std::array<double, 4> const& b, double t) {
  double const s = 1 - t;
  return s * s * (s * b[0] + 3 * t * b[1]) + t * t * (3 * s * b[2] + t * b[3]);
}
[[nodiscard]] inline double cubic_slope(std::array<double, 4> const& b, double t) {
  double const s = 1 - t;
  return 3 * (s * s * (b[1] - b[0]) + 2 * s * t * (b[2] - b[1]) + t * t * (b[3] - b[2]));
}

}  // namespace isosurface
