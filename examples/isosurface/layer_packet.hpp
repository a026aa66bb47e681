// The part of a layer that a host sends to a worker.
#pragma once

#include <array>

#include "layer.hpp"
#include "skel/transfer.hpp"

namespace isosurface {

/// Some pieces of a layer. On its host it refers to whole slices; in a message it contains the rows
/// that it needs.
struct layer_packet {
  layer_rows layer;
  std::size_t first_piece = 0;
  range samples, nodes, cells;         ///< rows that these pieces need; cells: of the layer below
  std::array<std::size_t, 3> lengths;  ///< lengths of these rows
  /// Order 1: only samples on which surfaces depend are sent; those of slices beyond the layer's own
  /// lie in rows of nodes.
  bool near_surfaces = false;
  node_grid const* grid = nullptr;  ///< on its host
};

/// Rows of cells of the packet's own layer that it knows the holes of: its own, and the one before.
[[nodiscard]] range own_cells(layer_packet const& p);

}  // namespace isosurface

template <>
struct skel::transfer_traits<isosurface::layer_packet> {
  static void pack(isosurface::layer_packet const& p, std::vector<std::byte>& out);
  static std::size_t size(isosurface::layer_packet const& p);
  static isosurface::layer_packet unpack(std::span<std::byte const>& in);
};
