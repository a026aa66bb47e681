// Gradients at nodes, by finite differences of the samples around.
#pragma once

#include <array>

#include "cell.hpp"
#include "layer.hpp"
#include "mesh.hpp"

namespace isosurface {

/// Slopes at the nodes of one layer: slices layer.number() and the next.
class node_slopes {
 public:
  node_slopes(node_grid const& grid, layer_view const& layer);

  /// A node is given by its numbers along x, y, z. If samples around it are not finite, this is the
  /// difference to a neighbour that is, or zero.
  [[nodiscard]] vector3 slope(std::array<std::size_t, 3> const& node) const;

 private:
  /// The slices around those of one slice's nodes.
  struct plane {
    float const* own = nullptr;
    std::array<float const*, 5> around{};
  };
  [[nodiscard]] vector3 careful_slope(std::array<std::size_t, 3> const& node) const;

  node_grid const& grid_;
  layer_view const& layer_;
  std::array<plane, 2> planes_;
  std::size_t first_row_;  // of samples, in all of them
};

/// `v` divided by its length; zero if it has none.
[[nodiscard]] point normalized(vector3 const& v);

}  // namespace isosurface
