#include "cell_nodes.hpp"

namespace isosurface {

cell_nodes::cell_nodes(node_grid const& grid, layer_view const& layer) : grid_(grid), layer_(layer) {
  for (auto& r : rows_) r.resize(grid.axis(0).at.size());
}

node_data const& cell_nodes::node(std::size_t x, std::size_t row, std::size_t plane) {
  auto& n = rows_[row % 2 + 2 * plane][x];
  if (n.row != row) n = {row, node_derivatives(grid_, layer_, {x, row, layer_.number() + plane})};
  return n.data;
}

std::array<node_data, 8> cell_nodes::corners(std::size_t x, std::size_t row) {
  std::array<node_data, 8> all;
  for (std::size_t i = 0; i < 8; ++i) all[i] = node(x + i % 2, row + i / 2 % 2, i / 4);
  return all;
}

vector3 cell_nodes::sides(std::size_t x, std::size_t row) const {
  std::array<std::size_t, 3> const cell{x, row, layer_.number()};
  vector3 sides;
  for (std::size_t a = 0; a < 3; ++a) sides[a] = grid_.axis(a).at[cell[a] + 1] - grid_.axis(a).at[cell[a]];
  return sides;
}

}  // namespace isosurface
