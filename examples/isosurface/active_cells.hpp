// Finds the cells whose nodes are neither all above nor all below a value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "layer.hpp"
#include "piece_mesh.hpp"

namespace isosurface {

struct active_cell {
  std::uint32_t x;
  std::uint32_t above;  ///< one bit per corner, x + 2 y + 4 z
};

/// Eight bytes, the first one lowest.
inline std::uint64_t load_bytes(std::uint8_t const* from) {
  std::uint64_t all = 0;
  for (unsigned i = 0; i < 8; ++i) all |= std::uint64_t{from[i]} << (8 * i);
  return all;
}
inline std::uint64_t load_pair(std::uint8_t const* from) {
  return static_cast<std::uint16_t>(from[0] | from[1] << 8);
}
/// The lowest bits of eight bytes that are 0 or 1, in their order.
inline std::uint8_t gather_bits(std::uint64_t bytes) {
  return static_cast<std::uint8_t>((bytes * 0x0102040810204080U) >> 56U);
}

/// Finds the cells of a row whose corners differ in class.
class active_finder {
 public:
  explicit active_finder(std::size_t cells) : cells_(cells), differ_((cells + 1 + 63) / 64 * 64) {}

  /// Calls f(x) for each, in order.
  template <class F>
  void find(layer_view const& layer, std::size_t row, F&& f) {
    compare(layer, row);
    for (std::size_t x = 0; x < cells_; x += 64) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < 64; i += 8)
        bits |= std::uint64_t{gather_bits(load_bytes(differ_.data() + x + i))} << i;
      for (; bits != 0; bits &= bits - 1) f(x + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
  /// Classes of the nodes of the row found last: y + 2 z.
  [[nodiscard]] std::array<std::uint8_t const*, 4> const& classes() const { return classes_; }

 private:
  void compare(layer_view const& layer, std::size_t row);

  std::size_t cells_;
  std::array<std::uint8_t const*, 4> classes_{};
  std::vector<std::uint8_t> differ_;  // 1 per such cell
};

/// The active cells of one piece, for each value and row, in order of x. Holes are skipped and
/// counted.
class active_cells {
 public:
  active_cells(node_grid const& grid, layer_view const& layer, range rows, std::size_t values);

  [[nodiscard]] std::span<active_cell const> of(std::size_t value, std::size_t row) const;
  surface_counts counts;

 private:
  void find_in_row(layer_view const& layer, std::size_t row);

  range rows_;
  std::size_t cells_;  // cells of a row
  active_finder finder_;
  std::vector<std::vector<active_cell>> of_value_;
  std::vector<std::size_t> ends_;  // ends in of_value_ per row: all values of a row together
};

}  // namespace isosurface
