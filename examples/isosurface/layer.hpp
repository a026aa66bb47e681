// Slices in memory, and the part of them that one layer of cells needs: all rows on a host, some in
// a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "node_grid.hpp"

namespace isosurface {

/// The class of samples that are infinite or NaN.
inline constexpr std::uint8_t no_class = 255;

/// Rows of one slice; all of them on a host.
struct slice_rows {
  std::size_t first_row = 0;          ///< first row of samples
  std::vector<float> samples;         ///< x fastest
  std::size_t first_node_row = 0;     ///< first row of classes
  std::vector<std::uint8_t> classes;  ///< per node: the number of values that are not above it
  bool has_bad = false;               ///< whether some sample is not finite
};

/// Holes of one layer: cells without a surface because a sample that they depend on is not finite.
struct hole_rows {
  std::size_t first_row = 0;
  std::vector<std::uint8_t> cells;  ///< 1 for a hole
};

/// Layer n lies between the nodes of slices n and n + 1.
struct layer_rows {
  std::size_t number = 0;
  std::size_t first_slice = 0;
  std::vector<std::shared_ptr<slice_rows const>> slices;
  std::shared_ptr<hole_rows const> holes;        ///< null: none
  std::shared_ptr<hole_rows const> holes_below;  ///< holes of layer number - 1
  std::size_t slices_read = 0;                   ///< slices read for this layer; the others were in memory
};

/// Accessors that use the indices of the whole volume.
class layer_view {
 public:
  layer_view(node_grid const& grid, layer_rows const& rows) : grid_(grid), rows_(rows) {}

  [[nodiscard]] std::size_t number() const { return rows_.number; }
  /// The first row of samples, the same for all slices.
  [[nodiscard]] std::size_t first_row() const { return rows_.slices.front()->first_row; }
  [[nodiscard]] float const* samples(std::size_t slice, std::size_t row) const {
    auto const& s = at(slice);
    return s.samples.data() + (row - s.first_row) * grid_.axis(0).samples;
  }
  [[nodiscard]] std::uint8_t const* classes(std::size_t slice, std::size_t node_row) const {
    auto const& s = at(slice);
    return s.classes.data() + (node_row - s.first_node_row) * grid_.axis(0).at.size();
  }
  [[nodiscard]] bool has_holes() const { return rows_.holes || rows_.holes_below; }
  /// Whether a cell in this layer or the one below is a hole.
  [[nodiscard]] bool is_hole(std::size_t layer, std::size_t row, std::size_t x) const {
    auto const& h = layer == rows_.number ? rows_.holes : rows_.holes_below;
    return h && h->cells[(row - h->first_row) * grid_.axis(0).cells() + x] != 0;
  }

 private:
  [[nodiscard]] slice_rows const& at(std::size_t slice) const {
    return *rows_.slices[slice - rows_.first_slice];
  }
  node_grid const& grid_;
  layer_rows const& rows_;
};

/// Sets classes and has_bad of a whole slice from its samples.
void classify(slice_rows& slice, node_grid const& grid, std::span<double const> values);

/// Finds the holes of a layer from its whole slices; returns null if there are none. Order 1: cells
/// with a corner that is not finite. Order 3: cells with such a sample in the difference stencil of
/// a corner.
[[nodiscard]] std::shared_ptr<hole_rows const> find_holes(node_grid const& grid, layer_rows const& layer,
                                                          int order);

}  // namespace isosurface
