// The mesh of one piece (some rows of cells of one layer), on its way to the mesh builder.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "mesh.hpp"
#include "node_grid.hpp"
#include "skel/transfer.hpp"

namespace isosurface {

/// Names an edge of the lattice on which surfaces are cut; unique in the volume.
using edge_key = std::uint64_t;

/// The lattice: nodes, and between two of them the points where cells are halved.
class edge_lattice {
 public:
  edge_lattice(node_grid const& grid, std::size_t edges_per_cell)
      : per_cell_(edges_per_cell),
        nodes_x_(grid.axis(0).cells() * per_cell_ + 1),
        nodes_y_(grid.axis(1).cells() * per_cell_ + 1) {}

  [[nodiscard]] std::size_t per_cell() const { return per_cell_; }
  [[nodiscard]] edge_key key(std::size_t axis, std::size_t x, std::size_t y, std::size_t z) const {
    return ((z * nodes_y_ + y) * nodes_x_ + x) * 3 + axis;
  }
  [[nodiscard]] bool in_plane(edge_key key, std::size_t z) const {
    return key % 3 != 2 && key / 3 / nodes_x_ / nodes_y_ == z;
  }
  /// The y of an edge's first end.
  [[nodiscard]] std::size_t row(edge_key key) const { return key / 3 / nodes_x_ % nodes_y_; }

 private:
  std::size_t per_cell_, nodes_x_, nodes_y_;
};

/// A vertex that other pieces use, too.
struct shared_vertex {
  edge_key edge = 0;
  std::uint32_t vertex = 0;  ///< among those of its value
};

/// Counts made while the piece was processed.
struct surface_counts {
  std::uint64_t polygons = 0;     ///< before they were divided into triangles
  std::uint64_t active = 0;       ///< cells that a value may pass through, once for each value
  std::uint64_t holes = 0;        ///< cells left out since samples are not finite
  std::uint64_t slices_read = 0;  ///< by all hosts: those between two shares more than once
  std::uint64_t unresolved = 0;   ///< parts of cells in which a surface may be hidden, once for each value
};

/// In a triangle: not the number of a vertex of its value, but of a foreign one.
template <std::unsigned_integral Index>
inline constexpr Index foreign_bit = Index{1} << (std::numeric_limits<Index>::digits - 1);

/// A vertex belongs to the first cell, by layer, row and x, that uses it; other pieces name it by its edge.
///
/// Positions, normals and triangles are made here, or stay in the message in which they came.
struct piece_mesh {
  /// How much of each vector belongs to a value; values follow each other.
  struct part {
    std::uint32_t vertices = 0, triangles = 0, foreign = 0, above = 0, last_row = 0;
  };
  std::vector<part> parts;
  std::vector<point> positions, normals;
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< vertices of this value, foreign ones marked
  std::vector<edge_key> foreign;
  std::vector<shared_vertex> above;     ///< in the plane to the next layer
  std::vector<shared_vertex> last_row;  ///< in the plane to the next piece of this layer
  surface_counts counts;

  /// Bytes at any address. Triangles have indices of 16 bits, or of 32.
  struct surface_bytes {
    std::span<std::byte const> positions, normals, triangles;
    bool narrow = false;
  };
  surface_bytes packed;                 ///< instead of the vectors,
  std::shared_ptr<void const> message;  ///< while this is here

  [[nodiscard]] surface_bytes surface() const;
};

}  // namespace isosurface

template <>
struct skel::transfer_traits<isosurface::piece_mesh> {
  static void pack(isosurface::piece_mesh const& m, std::vector<std::byte>& out);
  static isosurface::piece_mesh unpack(std::span<std::byte const>& in);
  static isosurface::piece_mesh unpack(std::span<std::byte const>& in,
                                       std::shared_ptr<void const> const& owner);
};
