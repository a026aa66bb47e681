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

double sum(row const& w, double const* from, std::size_t stride) {
  return w[0] * from[0] + w[1] * from[stride] + w[2] * from[2 * stride] + w[3] * from[3 * stride];
}

hull hull_of(double const* from, std::size_t stride_y, std::size_t stride_z) {
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

}  // namespace

hull hull::widened() const {
  double const slack = 1e-13 * std::max(std::abs(low), std::abs(high));
  return {low - slack, high + slack};
}

hull hull_of(tricubic const& cell) { return hull_of(cell.b.data(), 4, 16); }

control_net::control_net(int level) : parts_(std::size_t{1} << static_cast<unsigned>(level)) {
  std::array<row, 4> const unit{row{1, 0, 0, 0}, row{0, 1, 0, 0}, row{0, 0, 1, 0}, row{0, 0, 0, 1}};
  halve(unit, level, weights_);
  weights_.push_back(unit[3]);
  along_x_.resize(points() * 16);
  along_xy_.resize(points() * points() * 4);
  net_.resize(points() * points() * points());
}

void control_net::divide(tricubic const& cell) {
  auto const n = points();
  if (parts_ == 1) {
    std::ranges::copy(cell.b, net_.begin());
    return;
  }
  for (std::size_t r = 0; r < 16; ++r)
    for (std::size_t i = 0; i < n; ++i) along_x_[r * n + i] = sum(weights_[i], &cell.b[4 * r], 1);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i)
        along_xy_[(k * n + j) * n + i] = sum(weights_[j], &along_x_[k * 4 * n + i], n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n * n; ++i) net_[k * n * n + i] = sum(weights_[k], &along_xy_[i], n * n);
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
