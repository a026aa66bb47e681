#include "cell.hpp"

namespace isosurface {

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

tricubic::both tricubic::look(vector3 const& u) const {
  auto const x = bernstein(u[0]), y = bernstein(u[1]), z = bernstein(u[2]);
  auto const dx = bernstein_slope(u[0]), dy = bernstein_slope(u[1]), dz = bernstein_slope(u[2]);
  both sum{};
  for (std::size_t k = 0; k < 4; ++k) {
    double plane = 0, plane_x = 0, plane_y = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      auto const* const r = &b[4 * (j + 4 * k)];
      double const row = x[0] * r[0] + x[1] * r[1] + x[2] * r[2] + x[3] * r[3];
      plane += y[j] * row;
      plane_x += y[j] * (dx[0] * r[0] + dx[1] * r[1] + dx[2] * r[2] + dx[3] * r[3]);
      plane_y += dy[j] * row;
    }
    sum.value += z[k] * plane;
    sum.gradient[0] += z[k] * plane_x;
    sum.gradient[1] += z[k] * plane_y;
    sum.gradient[2] += dz[k] * plane;
  }
  return sum;
}

tricubic hermite(std::array<node_data, 8> const& corners, vector3 const& sides) {
  // Along each axis: b0 = f0, b1 = f0 + h f0'/3, b2 = f1 - h f1'/3, b3 = f1. Each corner thus
  // determines the two coefficients next to it along each axis, from its eight data, one axis after
  // the other.
  tricubic cell;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    std::array<std::size_t, 3> const far{corner % 2, corner / 2 % 2, corner / 4};
    auto d = corners[corner];
    for (std::size_t a = 0; a < 3; ++a) {
      double const third = (far[a] == 0 ? sides[a] : -sides[a]) / 3;
      auto const bit = std::size_t{1} << a;
      for (std::size_t i = 0; i < 8; ++i)
        if ((i & bit) == 0) d[i | bit] = d[i] + third * d[i | bit];
    }
    for (std::size_t i = 0; i < 8; ++i) {
      auto const at = [&](std::size_t a) {
        auto const inwards = (i >> a) & 1U;
        return far[a] == 0 ? inwards : 3 - inwards;
      };
      cell.b[at(0) + 4 * (at(1) + 4 * at(2))] = d[i];
    }
  }
  return cell;
}

}  // namespace isosurface
