// The modeler as a job of skel::multi_host [Bajaj93, §2, §5]: hosts read slices, workers make
// surfaces.
#pragma once

#include "layer_packet.hpp"
#include "piece_mesh.hpp"
#include "slice_stack.hpp"

namespace isosurface {

/// A unit is a layer of cells; a piece is some rows of it, which are handed out as soon as the
/// samples that they need are read. A host keeps only the slices that the data of a layer's nodes
/// depend on (4, or 6 with differences of fourth order) and those that it reads ahead, never the
/// volume.
class modeler {
 public:
  using carried = slice_stack;
  using unit = layer_rows;
  using packet = layer_packet;
  using result = piece_mesh;

  modeler(node_grid const& grid, surface_options const& options, open_function open)
      : grid_(grid), options_(options), open_(std::move(open)) {}

  std::uint64_t read(
      std::uint64_t number, carried& c, unit& into,
      skel::pieces_ready const& ready = [](std::uint64_t) {}) const;
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const;
  [[nodiscard]] result process(packet const& p, std::size_t i) const;

 private:
  node_grid const& grid_;
  surface_options const& options_;
  open_function open_;
};

}  // namespace isosurface
