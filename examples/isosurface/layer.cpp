#include "layer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace isosurface {

namespace {

constexpr std::uint32_t exponent_bits = 0x7f800000;

/// Counts for each sample the values that are not above it, several samples at a time.
void count_values(float const* samples, std::size_t n, std::span<float const> values, std::uint8_t* to) {
  constexpr std::size_t block = 256;
  std::array<std::int32_t, block> count;
  for (std::size_t first = 0; first < n; first += block) {
    auto const m = std::min(block, n - first);
    count.fill(0);
    for (float const v : values)
      for (std::size_t x = 0; x < m; ++x) count[x] += samples[first + x] >= v ? 1 : 0;
    for (std::size_t x = 0; x < m; ++x) to[first + x] = static_cast<std::uint8_t>(count[x]);
  }
}

/// Returns the least float that is not below v: a float is not below it exactly if it is not below
/// v.
float not_below(double v) {
  auto f = static_cast<float>(v);
  return f < v ? std::nextafter(f, INFINITY) : f;
}

}  // namespace

bool all_finite(std::span<float const> samples) {
  std::uint32_t bad = 0;  // branch-free: the compiler processes several at a time
  for (float const f : samples)
    bad |= (std::bit_cast<std::uint32_t>(f) & exponent_bits) == exponent_bits ? 1U : 0U;
  return bad == 0;
}

classifier::classifier(node_grid const& grid, std::span<double const> values)
    : grid_(grid), picked_(grid.axis(0).at.size()) {
  for (double const v : values) bounds_.push_back(not_below(v));
}

void classifier::classify(slice_rows& slice, std::size_t node_row) {
  auto const &xs = grid_.axis(0), &ys = grid_.axis(1);
  auto const n = xs.at.size();
  float const* row = slice.samples.data() + ys.sample[node_row] * xs.samples;
  if (n != xs.samples) {
    for (std::size_t i = 0; i < n; ++i) picked_[i] = row[xs.sample[i]];
    row = picked_.data();
  }
  auto* const to = slice.classes.data() + node_row * n;
  count_values(row, n, bounds_, to);
  if (all_finite({row, n})) return;
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(row[i])) to[i] = no_class;
}

}  // namespace isosurface
