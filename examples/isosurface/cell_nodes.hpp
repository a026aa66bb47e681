// Computes the data of nodes when a cell first needs them.
#pragma once

#include <array>
#include <vector>

#include "node_derivatives.hpp"

namespace isosurface {

/// Serves the cells of one layer row by row. Each node is computed once per layer.
class cell_nodes {
 public:
  cell_nodes(node_grid const& grid, layer_view const& layer);

  /// The data of the eight corners of a cell, x fastest.
  [[nodiscard]] std::array<node_data, 8> corners(std::size_t x, std::size_t row);
  [[nodiscard]] vector3 sides(std::size_t x, std::size_t row) const;

 private:
  struct known {
    std::size_t row = SIZE_MAX;
    node_data data{};
  };
  node_data const& node(std::size_t x, std::size_t row, std::size_t plane);

  node_grid const& grid_;
  layer_view const& layer_;
  std::array<std::vector<known>, 4> rows_;  // two rows in each of two slices
};

}  // namespace isosurface
