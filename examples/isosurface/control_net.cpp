#include "control_net.hpp"

#include <algorithm>
#include <cmath>

namespace isosurface {

namespace {

using row = std::array<double, 4>;

row middle(row const& a, row const& b) {
  row m;
  for (std::size_t i = 0; i < 4; ++i) m[i] = (a[i] + b[i]) / 2;
  return m;
}

/// Appends the control points of both halves of a curve, except the last.
void halve(std::array<row, 4> const& p, int level, std::vector<row>& to) {
  if (level == 0) {
    to.insert(to.end(), p.begin(), p.begin() + 3);
    return;
  }
  auto const a = middle(p[0], p[1]), b = middle(p[1], p[2]), c = middle(p[2], p[3]);
  auto const ab = middle(a, b), bc = middle(b, c), abc = middle(ab, bc);
  halve({p[0], a, ab, abc}, level - 1, to);
  halve({abc, bc, c, p[3]}, level - 1, to);
}

[[gnu::always_inline]] inline hull hull_by(double const* from, std::size_t stride_y, std::size_t stride_z) {
  std::array<double, 4> low, high;  // processed several at a time
  low.fill(from[0]);
  high.fill(from[0]);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < 4; ++i) {
        double const b = from[i + j * stride_y + k * stride_z];
        low[i] = b < low[i] ? b : low[i];
        high[i] = b > high[i] ? b : high[i];
      }
  return {std::ranges::min(low), std::ranges::max(high)};
}

/// Sums of four rows by weights: to[i] = w[0] a[i] + w[1] b[i] + ...
[[gnu::always_inline]] inline void mix_rows(row const& w, double const* from, std::size_t stride,
                                            std::size_t n, double* __restrict to) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] =
        w[0] * from[i] + w[1] * from[stride + i] + w[2] * from[2 * stride + i] + w[3] * from[3 * stride + i];
}

struct net_division {
  double const* cell;
  double const* weights_x;
  row const* weights;
  std::size_t points;
  double *along_x, *along_xy, *net;
};

[[gnu::always_inline]] inline void divide_rows(net_division const& d, std::size_t length) {
  auto const n = d.points;
  for (std::size_t r = 0; r < 16; ++r) {
    auto const* const b = d.cell + 4 * r;
    mix_rows({b[0], b[1], b[2], b[3]}, d.weights_x, length, length, d.along_x + r * length);
  }
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < n; ++j)
      mix_rows(d.weights[j], d.along_x + 4 * k * length, length, length, d.along_xy + (k * n + j) * length);
  for (std::size_t k = 0; k < n; ++k)
    mix_rows(d.weights[k], d.along_xy, n * length, n * length, d.net + k * n * length);
}
[[gnu::always_inline]] inline void divide_by(net_division const& d, std::size_t length) {
  constexpr std::size_t once = 8;  // the length after one halving, the usual level
  length == once ? divide_rows(d, once) : divide_rows(d, length);
}

struct net_kernel {
  void (*divide)(net_division const&, std::size_t);
  hull (*hull_of)(double const*, std::size_t, std::size_t);
};

void divide_portable(net_division const& d, std::size_t length) { divide_by(d, length); }
hull hull_portable(double const* from, std::size_t y, std::size_t z) { return hull_by(from, y, z); }
#ifdef __x86_64__
[[gnu::target("avx2")]] void divide_avx2(net_division const& d, std::size_t length) { divide_by(d, length); }
[[gnu::target("avx2")]] hull hull_avx2(double const* from, std::size_t y, std::size_t z) {
  return hull_by(from, y, z);
}
#endif

net_kernel find_net_kernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return {divide_avx2, hull_avx2};
#endif
  return {divide_portable, hull_portable};
}
net_kernel const net_functions = find_net_kernel();

hull hull_of(double const* from, std::size_t stride_y, std::size_t stride_z) {
  return net_functions.hull_of(from, stride_y, stride_z);
}

}  // namespace

hull hull::widened() const {
  double const slack = 1e-13 * std::max(std::abs(low), std::abs(high));
  return {low - slack, high + slack};
}

hull hull_of(tricubic const& cell) { return hull_of(cell.b.data(), 4, 16); }

control_net::control_net(int level)
    : parts_(std::size_t{1} << static_cast<unsigned>(level)), row_((points() + 3) / 4 * 4) {
  std::array<row, 4> const unit{row{1, 0, 0, 0}, row{0, 1, 0, 0}, row{0, 0, 1, 0}, row{0, 0, 0, 1}};
  halve(unit, level, weights_);
  weights_.push_back(unit[3]);
  weights_x_.resize(4 * row_);
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < points(); ++i) weights_x_[c * row_ + i] = weights_[i][c];
  along_x_.resize(row_ * 16);
  along_xy_.resize(row_ * points() * 4);
  net_.resize(row_ * points() * points());
}

void control_net::divide(tricubic const& cell) {
  if (parts_ == 1) {
    std::ranges::copy(cell.b, net_.begin());
    return;
  }
  net_functions.divide({cell.b.data(), weights_x_.data(), weights_.data(), points(), along_x_.data(),
                        along_xy_.data(), net_.data()},
                       row_);
}

hull control_net::hull_of_part(std::size_t i, std::size_t j, std::size_t k) const {
  return hull_of(at(3 * i, 3 * j, 3 * k), stride(1), stride(2));
}

tricubic control_net::part(std::size_t i, std::size_t j, std::size_t k) const {
  tricubic p;
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t b = 0; b < 4; ++b)
      std::copy_n(at(3 * i, 3 * j + b, 3 * k + c), 4, &p.b[4 * (b + 4 * c)]);
  return p;
}

bool may_hide(tricubic const& cell, double value, int halvings) {
  if (!hull_of(cell).straddles(value)) return false;
  if (halvings == 0) return true;
  control_net net(1);
  net.divide(cell);
  for (std::size_t i = 0; i < 8; ++i)
    if (may_hide(net.part(i % 2, i / 2 % 2, i / 4), value, halvings - 1)) return true;
  return false;
}

}  // namespace isosurface
