// The slices that a host holds. Those of a layer are read side by side, so that its first rows of
// cells are complete before its last.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "skel/multi_host.hpp"
#include "slice_reading.hpp"

namespace isosurface {

using open_function = std::function<std::unique_ptr<volume_data::volume_reader>()>;

class slice_stack {
 public:
  /// Reads what a layer needs and what is not held, and drops the slices before. Sets `into`, whose
  /// rows may be used as soon as `ready` has been called with the number of complete pieces. The
  /// first layer may be any; the others follow in order.
  ///
  /// A volume that cannot skip rows freely is read slice by slice; then pieces are complete while
  /// the last slice is read.
  void read(node_grid const& grid, surface_options const& options, open_function const& open,
            std::size_t layer, layer_rows& into, skel::pieces_ready const& ready);

 private:
  using reader = std::unique_ptr<volume_data::volume_reader>;

  void keep(range slices);
  [[nodiscard]] std::vector<slice_reading> plan(node_grid const& grid, surface_options const& options,
                                                bool fresh, layer_rows& into);
  /// Reads all that is read slice by slice; returns the readers of the rest.
  [[nodiscard]] std::vector<reader> begin(std::span<slice_reading> readings, std::size_t one_by_one,
                                          std::size_t nodes, open_function const& open);
  [[nodiscard]] reader reader_at(std::size_t slice, open_function const& open);
  void add_holes(node_grid const& grid, range slices, range rows, hole_rows& to) const;

  std::size_t first_ = 0;  // slice
  std::vector<held_slice> held_;
  std::shared_ptr<hole_rows const> holes_;  // of the latest layer
  bool rows_freely_ = false;
  std::vector<reader> readers_;
};

}  // namespace isosurface
