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

/// Leaves new floats as they are, so that the memory of a slice is first touched row by row: the
/// first rows need not wait for the pages of all.
template <class T>
struct untouched : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = untouched<U>;
  };
  template <class U>
  void construct(U* to) noexcept {
    ::new (static_cast<void*>(to)) U;
  }
};
using sample_vector = std::vector<float, untouched<float>>;

/// Rows of one slice; all of them on a host.
struct slice_rows {
  /// Only the samples at nodes: enough for a slice beyond the layer's own at order 1, which serves
  /// differences along z.
  bool only_nodes = false;
  std::size_t first_row = 0;          ///< first row of samples; with only_nodes, of nodes
  sample_vector samples;              ///< x fastest
  std::size_t first_node_row = 0;     ///< first row of classes
  std::vector<std::uint8_t> classes;  ///< per node: the number of values that are not above it
};

/// Holes of one layer: cells without a surface because a sample that they depend on is not finite.
struct hole_rows {
  std::size_t first_row = 0;
  std::vector<std::uint8_t> cells;   ///< 1 for a hole
  std::vector<std::uint8_t> in_row;  ///< on a host: 1 if a row of cells has a hole
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
  /// The first row of samples of the layer's own slices.
  [[nodiscard]] std::size_t first_row() const { return at(number()).first_row; }
  [[nodiscard]] slice_rows const& at(std::size_t slice) const {
    return *rows_.slices[slice - rows_.first_slice];
  }
  /// Not of a slice that has only nodes.
  [[nodiscard]] float const* samples(std::size_t slice, std::size_t row) const {
    auto const& s = at(slice);
    return s.samples.data() + (row - s.first_row) * grid_.axis(0).samples;
  }
  /// The sample at a node, of any slice.
  [[nodiscard]] float node_sample(std::size_t slice, std::size_t node, std::size_t node_row) const {
    auto const& s = at(slice);
    auto const &xs = grid_.axis(0), &ys = grid_.axis(1);
    return s.only_nodes ? s.samples[(node_row - s.first_row) * xs.at.size() + node]
                        : s.samples[(ys.sample[node_row] - s.first_row) * xs.samples + xs.sample[node]];
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
  node_grid const& grid_;
  layer_rows const& rows_;
};

/// Sets the classes of a slice row by row.
class classifier {
 public:
  classifier(node_grid const& grid, std::span<double const> values);
  void classify(slice_rows& slice, std::size_t node_row);

 private:
  node_grid const& grid_;
  std::vector<float> bounds_, picked_;
};

[[nodiscard]] bool all_finite(std::span<float const> samples);

}  // namespace isosurface
