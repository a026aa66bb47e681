// Puts the pieces of surfaces together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "piece_mesh.hpp"

namespace skel::isosurface {

/// Takes the pieces in the order of layers and pieces, so that the mesh does not depend on who made them.
/// Keeps them, and of the latest two layers which vertices are shared.
class mesh_builder {
 public:
  mesh_builder(node_grid const& grid, edge_lattice const& lattice, std::vector<double> values);

  /// Throws error for an edge that no earlier piece has.
  void add(std::size_t layer, std::size_t piece, piece_mesh&& m);
  /// All of them as one mesh; nothing is left here.
  [[nodiscard]] mesh finish();
  [[nodiscard]] surface_counts const& counts() const { return counts_; }

 private:
  /// The shared vertices of one piece and value. They are asked for nearly in the order they were made.
  class shared_list {
   public:
    void assign(std::span<shared_vertex const> from, std::uint32_t first_vertex);
    void clear() { assign({}, 0); }
    [[nodiscard]] shared_vertex const* find(edge_key edge);

   private:
    std::vector<shared_vertex> vertices_;
    std::vector<std::uint32_t> sorted_;  // when the order was not kept
    std::size_t next_ = 0;
  };
  struct surface {
    double value = 0;
    std::size_t vertices = 0, triangles = 0;
    std::vector<shared_list> below, here;  // in the planes under and over the current layer, of each piece
    shared_list last_row;
  };
  struct kept_piece {
    piece_mesh mesh;
    std::vector<std::uint32_t> first_vertex;  // for each value
    std::vector<std::uint32_t> foreign;       // instead of the edges
  };

  [[nodiscard]] std::uint32_t find(surface& s, std::size_t piece, edge_key edge) const;
  void append(kept_piece const& p, std::vector<std::size_t>& next_triangle, mesh& to) const;

  node_grid const& grid_;
  edge_lattice const& lattice_;
  std::vector<surface> surfaces_;
  std::vector<kept_piece> pieces_;
  surface_counts counts_;
  std::size_t layer_ = 0;
};

}  // namespace skel::isosurface
