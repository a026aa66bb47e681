#include "cell.hpp"

namespace skel::isosurface {

namespace {

std::array<double, 4> bernstein(double t) {
  double const s = 1 - t;
  return {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
}
std::array<double, 4> bernstein_slope(double t) {
  double const s = 1 - t;
  return {-3 * s * s, 3 * s * (s - 2 * t), 3 * t * (2 * s - t), 3 * t * t};
}

double contract(std::array<double, 64> const& b, std::array<double, 4> const& x,
                std::array<double, 4> const& y, std::array<double, 4> const& z) {
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    double plane = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      auto const* const r = &b[4 * (j + 4 * k)];
      plane += y[j] * (x[0] * r[0] + x[1] * r[1] + x[2] * r[2] + x[3] * r[3]);
    }
    sum += z[k] * plane;
  }
  return sum;
}

}  // namespace

double tricubic::value(vector3 const& u) const {
  return contract(b, bernstein(u[0]), bernstein(u[1]), bernstein(u[2]));
}

vector3 tricubic::gradient(vector3 const& u) const {
  auto const x = bernstein(u[0]), y = bernstein(u[1]), z = bernstein(u[2]);
  return {contract(b, bernstein_slope(u[0]), y, z), contract(b, x, bernstein_slope(u[1]), z),
          contract(b, x, y, bernstein_slope(u[2]))};
}

tricubic hermite(std::array<node_data, 8> const& corners, vector3 const& sides) {
  // Along each axis: b0 = f0, b1 = f0 + h f0'/3, b2 = f1 - h f1'/3, b3 = f1; so coefficient i belongs to the
  // corner i / 2, and takes its derivative where i is 1 or 2.
  tricubic cell;
  constexpr std::array<double, 4> sign{0, 1, -1, 0};
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < 4; ++i) {
        auto const& d = corners[i / 2 + 2 * (j / 2) + 4 * (k / 2)];
        double const x = sign[i] * sides[0] / 3, y = sign[j] * sides[1] / 3, z = sign[k] * sides[2] / 3;
        double const low = (d[0] + x * d[1]) + y * (d[2] + x * d[3]);
        double const high = (d[4] + x * d[5]) + y * (d[6] + x * d[7]);
        cell.b[i + 4 * (j + 4 * k)] = low + z * high;
      }
  return cell;
}

}  // namespace skel::isosurface
