#include "edge_root.hpp"

#include <cmath>

namespace isosurface {

double edge_root(std::array<double, 4> const& b, double value) {
  constexpr int most = 100;  // bisection alone needs about 55
  bool const rises = b[3] > b[0];
  double low = 0, high = 1;
  double t = (value - b[0]) / (b[3] - b[0]);
  for (int i = 0; i < most; ++i) {
    double const f = cubic(b, t) - value;
    if (f == 0) break;
    ((f < 0) == rises ? low : high) = t;
    double next = t - f / cubic_slope(b, t);
    if (!(next > low && next < high)) next = (low + high) / 2;
    double const step = std::abs(next - t);
    t = next;
    if (step < 1e-15) break;
  }
  return t;
}

}  // namespace isosurface
