// Reads one slice into a host's memory, row by row.
#pragma once

#include <memory>
#include <vector>

#include "layer.hpp"
#include "volume_reader.hpp"

namespace isosurface {

/// A slice in a host's memory.
struct held_slice {
  std::shared_ptr<slice_rows> full;   ///< all rows on which nodes depend
  std::shared_ptr<slice_rows> nodes;  ///< the samples at nodes only
  sample_vector node_rows;            ///< the rows in which they lie, if `full` will be read soon
  std::vector<std::uint8_t> bad;      ///< 1 for nodes that a sample of this slice makes bad; empty: none
};

class slice_reading {
 public:
  enum class part : std::uint8_t { full, nodes, nodes_and_their_rows };
  /// Makes room in `to`.
  slice_reading(node_grid const& grid, surface_options const& options, std::size_t slice, part what,
                held_slice& to);

  [[nodiscard]] std::size_t slice() const { return slice_; }
  /// Reads on, from `volume` at this slice, until the nodes of all rows before `end_node` are
  /// complete.
  void read_to(std::size_t end_node, volume_data::volume_reader& volume);

 private:
  void read_samples(std::size_t end, volume_data::volume_reader& volume);
  void read_node_row(std::size_t node_row, volume_data::volume_reader& volume);
  void check(std::size_t first, std::size_t end);
  void mark_bad(std::size_t node_row);

  node_grid const& grid_;
  int order_;
  std::size_t slice_;
  held_slice& held_;
  slice_rows& to_;
  classifier classifier_;
  std::size_t next_ = 0, next_node_ = 0;  // rows
  std::vector<std::uint8_t> bad_rows_;    // per row of samples: whether one is not finite
};

}  // namespace isosurface
