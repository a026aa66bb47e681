// Joins the pieces of surfaces to a mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "piece_mesh.hpp"

namespace isosurface {

/// Accepts layers in any order, so that none has to wait. The mesh depends neither on the order nor
/// on the ranks that made the pieces. Vertices are numbered by layer; shared ones are kept until
/// the next layer arrives.
class mesh_builder {
 public:
  mesh_builder(node_grid const& grid, edge_lattice const& lattice, std::vector<double> values);

  /// Adds a piece; those of a layer must come in order. Throws error for an edge that no piece has,
  /// as soon as that is certain.
  void add(std::size_t layer, std::size_t piece, piece_mesh&& m);
  /// Returns the layers before the first missing one as a mesh, and empties the builder.
  [[nodiscard]] mesh finish();
  [[nodiscard]] surface_counts const& counts() const { return counts_; }

 private:
  /// The shared vertices of one piece and value. Look-ups are nearly in the order of creation.
  class shared_list {
   public:
    shared_list(std::span<shared_vertex const> vertices, std::uint32_t first_vertex)
        : vertices_(vertices), first_vertex_(first_vertex) {}
    /// Returns the vertex's number within the layer.
    [[nodiscard]] std::optional<std::uint32_t> find(edge_key edge);
    [[nodiscard]] bool is_next(edge_key edge) const {
      return next_ < vertices_.size() && vertices_[next_].edge == edge;
    }
    [[nodiscard]] std::uint32_t take_next() { return first_vertex_ + vertices_[next_++].vertex; }

   private:
    std::span<shared_vertex const> vertices_;
    std::uint32_t first_vertex_;
    std::vector<std::uint32_t> sorted_;  // used if the order was not kept
    std::size_t next_ = 0, scans_ = 0;
  };
  struct shared_vertices {
    std::vector<shared_vertex> all;
    std::vector<shared_list> of_value;
  };
  struct kept_piece {
    piece_mesh mesh;
    std::vector<std::uint32_t> first_vertex;  // per value, within the layer
    std::vector<std::uint32_t>
        foreign;  // vertex numbers in place of edges; with below_bit: of the layer below
    // What has not been appended to the mesh yet:
    piece_mesh::surface_bytes rest;
    std::size_t next_foreign = 0;
  };
  static constexpr std::uint32_t below_bit = foreign_bit<std::uint32_t>;
  // An edge in the plane to a layer that has not arrived yet.
  struct open_edge {
    std::size_t kept, at;  // it is foreign[at] of piece `kept`
    std::size_t piece, value;
    edge_key edge;
  };
  struct layer_part {
    std::size_t added = 0;                         // number of pieces
    std::vector<std::size_t> vertices, triangles;  // per value
    std::vector<kept_piece> kept;                  // pieces with triangles
    std::vector<shared_vertices> above;            // per piece
    shared_vertices last_row;                      // of the latest piece
    std::vector<open_edge> open;
  };

  [[nodiscard]] bool whole(std::size_t layer) const { return layers_[layer].added == grid_.pieces(); }
  [[nodiscard]] std::optional<std::uint32_t> find_below(std::size_t layer, std::size_t piece,
                                                        std::size_t value, edge_key edge);
  void find(std::size_t layer, std::size_t piece, std::size_t value, edge_key edge, kept_piece& p);
  void join(std::size_t layer);
  void append(std::size_t layer, std::size_t value);
  void append_single();
  void reserve(std::size_t vertices, std::size_t triangles);

  node_grid const& grid_;
  edge_lattice const& lattice_;
  std::vector<double> values_;
  std::vector<layer_part> layers_;
  surface_counts counts_;
  mesh all_;
  std::size_t next_layer_ = 0;            // the first one that has not been appended, of a single value
  std::uint32_t first_of_layer_ = 0;      // first vertex of the layer appended last
  std::vector<std::uint32_t> elsewhere_;  // numbers of a piece's foreign vertices
};

}  // namespace isosurface
