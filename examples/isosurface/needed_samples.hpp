// The samples on which the surfaces of some rows of cells depend at order 1. Surfaces pass through
// few cells, so most samples need not travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layer.hpp"

namespace isosurface {

class needed_samples {
 public:
  /// For rows [nodes.first, nodes.end - 1) of cells; `layer` is whole, `samples` are the rows of
  /// samples on which these nodes depend.
  needed_samples(node_grid const& grid, layer_view const& layer, range nodes, range samples);

  /// Appends what is needed of a row of samples of one of the layer's own slices.
  void pack_row(std::size_t row, float const* samples, std::vector<std::byte>& out) const;
  /// Appends what is needed of a row of nodes of another slice: samples at nodes.
  void pack_node_row(std::size_t node_row, float const* samples, std::vector<std::byte>& out) const;
  /// Reads such a row; all other samples of `to` stay as they are. Throws protocol_error.
  static void unpack_row(std::span<std::byte const>& in, std::span<float> to);
  /// An upper bound on the bytes of a row.
  static std::size_t most_bytes(std::size_t samples);

 private:
  void mark(node_grid const& grid, std::size_t node, std::size_t row);

  std::size_t length_, nodes_, first_row_, first_node_row_;
  std::vector<std::uint8_t> rows_, node_rows_;  // 1 for each needed sample, or node
};

}  // namespace isosurface
