// Gradients at nodes, from finite differences of the surrounding samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cell.hpp"
#include "layer.hpp"
#include "mesh.hpp"

namespace isosurface {

/// Slopes at the nodes of one row of a slice, computed in blocks of neighbouring nodes.
struct slope_row {
  static constexpr std::size_t block = 8;  // nodes

  explicit slope_row(std::size_t nodes) : known((nodes + block - 1) / block) {
    for (auto& a : along) a.resize(nodes);
  }
  std::array<std::vector<double>, 3> along;  ///< per axis, by x
  std::vector<std::uint8_t> known;           ///< per block
};

/// Slopes at the nodes of one layer, in slices layer.number() and the next.
class node_slopes {
 public:
  node_slopes(node_grid const& grid, layer_view const& layer);

  /// The slope at a node given by its indices along x, y, z. If surrounding samples are not finite,
  /// it is the difference to a finite neighbour, or zero.
  [[nodiscard]] vector3 slope(std::array<std::size_t, 3> const& node) const;
  /// Computes the slopes of those of a row's blocks that are not known. The same to the bit.
  void find(range blocks, std::size_t row, std::size_t slice, slope_row& to) const;

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
  void find_nodes(range nodes, std::size_t row, std::size_t slice, slope_row& to) const;
  [[nodiscard]] vector3 careful_slope(std::array<std::size_t, 3> const& node) const;

  node_grid const& grid_;
  layer_view const& layer_;
  std::array<plane, 2> planes_;
  std::size_t first_row_;  // first row of samples, the same in all slices
  // Nodes along x whose slope is that of the samples x - 1, x and x + 1, with these weights.
  range centred_;
  std::array<std::vector<double>, 3> weights_;
};

/// The same for very small, very large and other numbers.
[[nodiscard]] point carefully_normalized(vector3 const& v);

/// Returns `v` divided by its length; zero if the length is zero.
[[nodiscard]] inline point normalized(vector3 const& v) {
  constexpr double least = 1e-30, most = 1e30;  // squares of numbers in between fit a float
  double const square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  if (!(square > least && square < most)) return carefully_normalized(v);
  auto const scale = 1 / std::sqrt(static_cast<float>(square));
  return {static_cast<float>(v[0]) * scale, static_cast<float>(v[1]) * scale,
          static_cast<float>(v[2]) * scale};
}

}  // namespace isosurface
