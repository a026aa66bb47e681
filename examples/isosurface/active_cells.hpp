// Finds the cells whose nodes are neither all above nor all below a value.
#pragma once

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

/// The active cells of one piece, for each value and row, in order of x. Holes are skipped and
/// counted.
class active_cells {
 public:
  active_cells(node_grid const& grid, layer_view const& layer, range rows, std::size_t values);

  [[nodiscard]] std::span<active_cell const> of(std::size_t value, std::size_t row) const;
  [[nodiscard]] std::size_t total() const;
  surface_counts counts;

 private:
  void find_in_row(layer_view const& layer, std::size_t row);
  void add(std::size_t x);

  range rows_;
  std::size_t cells_;                             // cells of a row
  std::array<std::uint8_t const*, 4> classes_{};  // classes of the corners' rows: y + 2 z
  std::vector<std::vector<active_cell>> of_value_;
  std::vector<std::size_t> ends_;  // ends in of_value_ per row: all values of a row together
  std::vector<std::uint8_t> differ_;
};

}  // namespace isosurface
