// The mesh of one piece (some rows of cells of one layer), as it is sent to the mesh builder.
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

/// Identifies an edge of the lattice on which surfaces are cut, uniquely in the volume.
using edge_key = std::uint64_t;

/// The lattice: nodes, and the points between them at which cells are halved.
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
  /// Whether an edge lies in the plane z.
  [[nodiscard]] bool in_plane(edge_key edge, std::size_t z) const {
    return edge >= key(0, 0, 0, z) && edge < key(0, 0, 0, z + 1) && edge % 3 != 2;
  }
  /// Whether an edge begins at these y and z.
  [[nodiscard]] bool in_row(edge_key edge, std::size_t y, std::size_t z) const {
    return edge >= key(0, 0, y, z) && edge < key(0, 0, y + 1, z);
  }

 private:
  std::size_t per_cell_, nodes_x_, nodes_y_;
};

/// A vertex that other pieces use too.
struct shared_vertex {
  edge_key edge = 0;
  std::uint32_t vertex = 0;  ///< index among those of its value
};

/// Counts made while the piece was processed.
struct surface_counts {
  std::uint64_t polygons = 0;     ///< polygons before division into triangles
  std::uint64_t active = 0;       ///< cells that a value may pass through, counted once per value
  std::uint64_t holes = 0;        ///< cells skipped because samples are not finite
  std::uint64_t slices_read = 0;  ///< by all hosts; slices between two shares count more than once
  std::uint64_t unresolved = 0;   ///< parts of cells in which a surface may be hidden, counted once per value

  surface_counts& operator+=(surface_counts const& other) {
    polygons += other.polygons;
    active += other.active;
    holes += other.holes;
    slices_read += other.slices_read;
    unresolved += other.unresolved;
    return *this;
  }
};

/// In a triangle: marks the number of a foreign vertex, as opposed to a vertex of its value.
template <std::unsigned_integral Index>
inline constexpr Index foreign_bit = Index{1} << (std::numeric_limits<Index>::digits - 1);

/// A vertex belongs to the first cell that uses it, by layer, row and x; other pieces refer to it
/// by its edge.
///
/// Positions, normals and triangles are made in place, or stay in the message in which they
/// arrived.
struct piece_mesh {
  /// The share of each vector that belongs to a value; values follow each other.
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

  /// Bytes at any address. Triangles have indices of 16 or 32 bits.
  struct surface_bytes {
    std::span<std::byte const> positions, normals, triangles;
    bool narrow = false;
  };
  surface_bytes packed;                 ///< replaces the vectors
  std::shared_ptr<void const> message;  ///< while the message is held

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
