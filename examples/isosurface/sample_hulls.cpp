#include "sample_hulls.hpp"

#include <algorithm>
#include <cmath>

namespace isosurface {

namespace {

/// The sum of absolute weights of b1 = f0 + h/3 f0' or b2 = f1 - h/3 f1'.
double amounts(stencil const& s, std::size_t own, double third) {
  double sum = 0;
  for (std::size_t i = 0; i < s.count; ++i)
    sum += std::abs(s.weights[i] * third + (s.first + i == own ? 1 : 0));
  return sum;
}

double amounts(node_axis const& axis, std::size_t cell) {
  double const third = (axis.at[cell + 1] - axis.at[cell]) / 3;
  return std::max({1.0, amounts(axis.slope[cell], axis.sample[cell], third),
                   amounts(axis.slope[cell + 1], axis.sample[cell + 1], -third)});
}

}  // namespace

sample_hulls::sample_hulls(node_grid const& grid, layer_view const& layer)
    : grid_(grid), layer_(layer), low_(grid.axis(0).samples), high_(grid.axis(0).samples) {
  for (std::size_t x = 0; x < grid.axis(0).cells(); ++x) amounts_x_.push_back(amounts(grid.axis(0), x));
}

void sample_hulls::find(std::size_t row) {
  beyond_yz_ = amounts(grid_.axis(1), row) * amounts(grid_.axis(2), layer_.number());
  auto const rows = grid_.sample_rows({row, row + 2}), slices = grid_.slices(layer_.number());
  std::ranges::fill(low_, INFINITY);
  std::ranges::fill(high_, -INFINITY);
  for (auto z = slices.first; z < slices.end; ++z)
    for (auto y = rows.first; y < rows.end; ++y) {
      float const* const s = layer_.samples(z, y);
      for (std::size_t x = 0; x < low_.size(); ++x) {
        low_[x] = s[x] < low_[x] ? s[x] : low_[x];
        high_[x] = s[x] > high_[x] ? s[x] : high_[x];
      }
    }
}

hull sample_hulls::of(std::size_t x) const {
  auto const& axis = grid_.axis(0);
  auto const first = std::min(axis.slope[x].first, axis.sample[x]);
  auto const end = std::max(axis.slope[x + 1].end(), axis.sample[x + 1] + 1);
  float low = low_[first], high = high_[first];
  for (auto i = first + 1; i < end; ++i) low = std::min(low, low_[i]), high = std::max(high, high_[i]);
  double const beyond = (beyond_yz_ * amounts_x_[x] - 1) / 2 * (double{high} - double{low});
  return hull{double{low} - beyond, double{high} + beyond}.widened();
}

}  // namespace isosurface
