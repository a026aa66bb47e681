// The modeler as a job of skel::multi_host [Bajaj93, §2, §5]: hosts read slices, workers make
// surfaces.
#pragma once

#include <functional>
#include <memory>

#include "layer.hpp"
#include "piece_mesh.hpp"
#include "skel/transfer.hpp"

namespace isosurface {

/// Some pieces of a layer. On its host it refers to whole slices; in a message it contains the rows
/// that it needs.
struct layer_packet {
  layer_rows layer;
  std::size_t first_piece = 0;
  range samples, nodes, cells;         ///< rows that these pieces need
  std::array<std::size_t, 3> lengths;  ///< lengths of these rows
};

using open_function = std::function<std::unique_ptr<volume_data::volume_reader>()>;

/// A unit is a layer of cells; a piece is some rows of it. A host keeps only the slices that the
/// data of a layer's nodes depend on (4, or 6 with differences of fourth order) and those that it
/// reads ahead, never the volume.
class modeler {
 public:
  struct carried {
    std::unique_ptr<volume_data::volume_reader> volume;
    layer_rows latest;
  };
  using unit = layer_rows;
  using packet = layer_packet;
  using result = piece_mesh;

  modeler(node_grid const& grid, surface_options const& options, open_function open)
      : grid_(grid), options_(options), open_(std::move(open)) {}

  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const;
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const;
  [[nodiscard]] result process(packet const& p, std::size_t i) const;

 private:
  void begin(std::size_t layer, carried& c) const;
  void read_slices(std::size_t end, carried& c) const;
  void advance(std::size_t layer, carried& c) const;

  node_grid const& grid_;
  surface_options const& options_;
  open_function open_;
};

}  // namespace isosurface

template <>
struct skel::transfer_traits<isosurface::layer_packet> {
  static void pack(isosurface::layer_packet const& p, std::vector<std::byte>& out);
  static std::size_t size(isosurface::layer_packet const& p);
  static isosurface::layer_packet unpack(std::span<std::byte const>& in);
};
