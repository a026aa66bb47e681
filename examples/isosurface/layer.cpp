#include "layer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace isosurface {

namespace {

constexpr std::uint32_t exponent_bits = 0x7f800000;

bool all_finite(std::span<float const> samples) {
  std::uint32_t bad = 0;  // branch-free: the compiler processes several at a time
  for (float const f : samples)
    bad |= (std::bit_cast<std::uint32_t>(f) & exponent_bits) == exponent_bits ? 1U : 0U;
  return bad == 0;
}

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

/// Marks the nodes of a slice that depend on a sample of it that is not finite.
std::vector<std::uint8_t> bad_nodes(node_grid const& grid, slice_rows const& slice, int order) {
  auto const& [xs, ys] = std::pair<node_axis const&, node_axis const&>(grid.axis(0), grid.axis(1));
  std::vector<std::uint8_t> bad(xs.at.size() * ys.at.size());
  auto const around = [order](node_axis const& a, std::size_t n) {
    auto const s = a.sample[n];
    return order == 1 ? range{s, s + 1}
                      : range{std::min(s, a.slope[n].first), std::max(s + 1, a.slope[n].end())};
  };
  for (std::size_t j = 0; j < ys.at.size(); ++j)
    for (std::size_t i = 0; i < xs.at.size(); ++i) {
      auto const rx = around(xs, i), ry = around(ys, j);
      for (auto y = ry.first; y < ry.end; ++y)
        for (auto x = rx.first; x < rx.end; ++x)
          if (!std::isfinite(slice.samples[y * xs.samples + x])) bad[j * xs.at.size() + i] = 1;
    }
  return bad;
}

}  // namespace

void classify(slice_rows& slice, node_grid const& grid, std::span<double const> values) {
  auto const &xs = grid.axis(0), &ys = grid.axis(1);
  auto const n = xs.at.size();
  slice.has_bad = !all_finite(slice.samples);
  slice.classes.resize(n * ys.at.size());
  std::vector<float> bounds, picked(n);
  for (double const v : values) bounds.push_back(not_below(v));
  for (std::size_t j = 0; j < ys.at.size(); ++j) {
    float const* row = slice.samples.data() + ys.sample[j] * xs.samples;
    if (n != xs.samples) {
      for (std::size_t i = 0; i < n; ++i) picked[i] = row[xs.sample[i]];
      row = picked.data();
    }
    auto* const to = slice.classes.data() + j * n;
    count_values(row, n, bounds, to);
    for (std::size_t i = 0; slice.has_bad && i < n; ++i)
      if (!std::isfinite(row[i])) to[i] = no_class;
  }
}

std::shared_ptr<hole_rows const> find_holes(node_grid const& grid, layer_rows const& layer, int order) {
  if (std::ranges::none_of(layer.slices, [](auto const& s) { return s->has_bad; })) return nullptr;
  auto const nodes_x = grid.axis(0).at.size();
  auto holes = std::make_shared<hole_rows>();
  auto const cells_x = grid.axis(0).cells(), cells_y = grid.axis(1).cells();
  holes->cells.resize(cells_x * cells_y);
  bool any = false;
  for (std::size_t s = 0; s < layer.slices.size(); ++s) {
    bool const own = s + layer.first_slice == layer.number || s + layer.first_slice == layer.number + 1;
    if (!layer.slices[s]->has_bad || (order == 1 && !own)) continue;
    auto const bad = bad_nodes(grid, *layer.slices[s], order);
    for (std::size_t j = 0; j < cells_y; ++j)
      for (std::size_t i = 0; i < cells_x; ++i) {
        auto const at = j * nodes_x + i;
        if ((bad[at] | bad[at + 1] | bad[at + nodes_x] | bad[at + nodes_x + 1]) != 0)
          holes->cells[j * cells_x + i] = 1, any = true;
      }
  }
  return any ? holes : nullptr;
}

}  // namespace isosurface
