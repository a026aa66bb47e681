// Gradients at nodes, from finite differences of the surrounding samples.
#pragma once

#include <array>

#include "cell.hpp"
#include "layer.hpp"
#include "mesh.hpp"

namespace isosurface {

/// Slopes at the nodes of one layer, in slices layer.number() and the next.
class node_slopes {
 public:
  node_slopes(node_grid const& grid, layer_view const& layer);

  /// The slope at a node given by its indices along x, y, z. If surrounding samples are not finite,
  /// it is the difference to a finite neighbour, or zero.
  [[nodiscard]] vector3 slope(std::array<std::size_t, 3> const& node) const;

 private:
  /// The slices around the nodes of one slice.
  struct plane {
    float const* own = nullptr;
    struct neighbour {
      float const* samples = nullptr;
      std::size_t first = 0, per_row = 0, per_node = 0;  // node (x, y): y * per_row + x * per_node - first
    };
    std::array<neighbour, 5> around{};
  };
  [[nodiscard]] vector3 careful_slope(std::array<std::size_t, 3> const& node) const;

  node_grid const& grid_;
  layer_view const& layer_;
  std::array<plane, 2> planes_;
  std::size_t first_row_;  // first row of samples, the same in all slices
};

/// Returns `v` divided by its length; zero if the length is zero.
[[nodiscard]] point normalized(vector3 const& v);

}  // namespace isosurface
