// The nodes of the model, every N-th sample in x and y and every slice in z, with the cells between
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "differences.hpp"
#include "volume_reader.hpp"

namespace isosurface {

/// The kind of surface. Must be equal on all ranks.
struct surface_options {
  std::vector<double> values;  ///< increasing, 1 to 250
  int order = 1;               ///< 1: trilinear cells, C0; 3: tricubic, C1
  std::size_t step = 1;        ///< samples per cell in x and y
  int level = 1;               ///< order 3: number of halvings of cells along each axis
  /// Order 3: how far triangles may be from the surface when vertices are removed; 0: none are.
  double tolerance = 0;
  difference_rule rule = difference_rule::second;
  /// Each layer makes the vertices in its lowest plane itself, instead of those of the layer below.
  bool layers_apart = false;
  /// Rows of cells per piece of work; 0: determined by their length. Does not influence the mesh.
  std::size_t rows_per_piece = 0;

  /// Edges of the lattice on which surfaces are cut, per edge of a cell.
  [[nodiscard]] std::size_t edges_per_cell() const {
    return order == 1 ? 1 : std::size_t{1} << static_cast<unsigned>(level);
  }
};

struct node_axis {
  std::size_t samples = 0;          ///< samples of the volume along this axis
  std::vector<std::size_t> sample;  ///< sample index of each node
  std::vector<double> at;           ///< coordinate of each node
  std::vector<double> sample_at;    ///< coordinates of all samples
  std::vector<stencil> slope;       ///< weights of samples for the derivative at each node

  [[nodiscard]] std::size_t cells() const { return at.size() - 1; }
};

/// A range of indices [first, end).
struct range {
  std::size_t first = 0, end = 0;
};

class node_grid {
 public:
  /// Throws usage_error if the volume has fewer than two nodes along an axis.
  node_grid(volume_data::volume_header const& header, surface_options const& options);

  [[nodiscard]] node_axis const& axis(std::size_t a) const { return axes_[a]; }
  [[nodiscard]] std::size_t layers() const { return axes_[2].cells(); }

  /// Rows of cells per piece: enough that the work takes longer than handing it out.
  [[nodiscard]] std::size_t rows_per_piece() const { return rows_per_piece_; }
  [[nodiscard]] std::size_t pieces() const;             ///< pieces per layer
  [[nodiscard]] range rows(std::size_t piece) const;    ///< rows of cells of a piece
  [[nodiscard]] range slices(std::size_t layer) const;  ///< slices that the data of a layer's nodes depend on
  [[nodiscard]] range sample_rows(range nodes) const;   ///< rows of samples that rows of nodes depend on

  /// Returns false if all samples are integers, so that no cell is a hole.
  [[nodiscard]] bool may_have_holes() const { return may_have_holes_; }
  /// Whether a layer uses vertices of the layer below.
  [[nodiscard]] bool joined_below(std::size_t layer) const { return layer > 0 && !layers_apart_; }

 private:
  std::array<node_axis, 3> axes_;
  std::size_t rows_per_piece_ = 1;
  bool may_have_holes_ = true;
  bool layers_apart_ = false;
};

}  // namespace isosurface
