#include "active_cells.hpp"

#include <algorithm>

namespace isosurface {

namespace {

/// 1 for each of eight bytes that is greater than v < 255, otherwise 0.
std::uint64_t bytes_above(std::uint64_t bytes, std::uint64_t v) {
  constexpr std::uint64_t ones = 0x0101010101010101U, tops = 0x80 * ones;
  auto const least = (v + 1) * ones;
  auto const lower_bits = (bytes | tops) - (least & ~tops);  // top bits: the lower seven are not less
  return (((bytes & ~least) | (~(bytes ^ least) & lower_bits)) & tops) >> 7U;
}

}  // namespace

void active_finder::compare(layer_view const& layer, std::size_t row) {
  for (std::size_t i = 0; i < 4; ++i) classes_[i] = layer.classes(layer.number() + i / 2, row + i % 2);
  auto const [a, b, c, d] = classes_;
  auto* const differ = differ_.data();
  auto const cells = cells_;  // a local copy, because written bytes may alias this object
  // Branch-free loops: the compiler processes 16 nodes at a time.
  for (std::size_t x = 0; x <= cells; ++x)
    differ[x] = static_cast<std::uint8_t>((a[x] ^ b[x]) | (a[x] ^ c[x]) | (a[x] ^ d[x]));
  for (std::size_t x = 0; x < cells; ++x)
    differ[x] = (differ[x] | differ[x + 1] | (a[x] ^ a[x + 1])) != 0 ? 1 : 0;
  std::fill(differ + cells, differ + differ_.size(), std::uint8_t{0});
}

active_cells::active_cells(node_grid const& grid, layer_view const& layer, range rows, std::size_t values)
    : rows_(rows), cells_(grid.axis(0).cells()), finder_(cells_), of_value_(values) {
  for (auto& cells : of_value_) cells.reserve((rows.end - rows.first) * cells_ / values);
  for (auto row = rows.first; row < rows.end; ++row) {
    find_in_row(layer, row);
    for (auto const& cells : of_value_) ends_.push_back(cells.size());
  }
  for (auto const& cells : of_value_) counts.active += cells.size();
}

std::span<active_cell const> active_cells::of(std::size_t value, std::size_t row) const {
  auto const at = (row - rows_.first) * of_value_.size() + value;
  auto const first = row == rows_.first ? 0 : ends_[at - of_value_.size()];
  return std::span(of_value_[value]).subspan(first, ends_[at] - first);
}

void active_cells::find_in_row(layer_view const& layer, std::size_t row) {
  auto const corners = [&](std::size_t x) {
    auto const& c = finder_.classes();
    return load_pair(c[0] + x) | load_pair(c[1] + x) << 16U | load_pair(c[2] + x) << 32U |
           load_pair(c[3] + x) << 48U;
  };
  auto const cell_of = [](std::size_t x, std::uint64_t all, std::uint64_t value) {
    return active_cell{static_cast<std::uint32_t>(x), gather_bits(bytes_above(all, value))};
  };
  bool const holes = layer.has_holes();
  if (of_value_.size() == 1 && !holes) {
    auto& cells = of_value_[0];
    finder_.find(layer, row, [&](std::size_t x) { cells.push_back(cell_of(x, corners(x), 0)); });
    return;
  }
  finder_.find(layer, row, [&](std::size_t x) {
    if (holes && layer.is_hole(layer.number(), row, x)) return;
    auto const all = corners(x);
    std::uint64_t low = 255, high = 0;
    for (unsigned i = 0; i < 64; i += 8)
      low = std::min(low, all >> i & 0xff), high = std::max(high, all >> i & 0xff);
    for (auto v = low; v < high; ++v) of_value_[v].push_back(cell_of(x, all, v));
  });
  if (!holes) return;
  for (std::size_t x = 0; x < cells_; ++x) counts.holes += layer.is_hole(layer.number(), row, x) ? 1U : 0U;
}

}  // namespace isosurface
