// Isosurfaces in parts: the hosts write a file for each layer of cells, so no rank holds the mesh.
#pragma once

#include <optional>
#include <string>

#include "job.hpp"
#include "mesh_builder.hpp"

namespace isosurface {

struct mesh_summary {
  std::uint64_t vertices = 0, triangles = 0;
  surface_counts counts;
  std::string xxh3;
};

/// A hash of all positions, normals and triangles.
[[nodiscard]] std::string mesh_hash(mesh const& m);

/// Layers are meshes of their own (surface_options::layers_apart): those between two layers both
/// have the vertices between them.
class part_writer {
 public:
  /// Parts of x.pvtp are x/layer-000000.vtp and so on. All ranks must see the same files.
  part_writer(node_grid const& grid, surface_options const& options, std::string path);

  /// The sink of a host. Takes the pieces of a layer in order, and writes the layer after its last
  /// one. The bytes depend on the layer only, so a layer may be written again after the loss of a
  /// host. Throws skel::error `path: reason`.
  void add(std::size_t layer, std::size_t piece, piece_mesh&& m);
  /// On the root, before any rank writes: removes what an earlier run has left.
  void remove_older() const;
  /// On the root, when all layers are written: writes the file that names them, and removes what
  /// lost hosts left. Throws skel::error if it does not find a part.
  [[nodiscard]] mesh_summary finish() const;

 private:
  [[nodiscard]] std::string name_of(std::size_t layer) const;

  node_grid const& grid_;
  edge_lattice lattice_;
  std::vector<double> values_;
  std::string path_, folder_;
  std::optional<mesh_builder> builder_;  // of the current layer
};

struct parts_made {
  skel::report run;
  mesh_summary mesh;  ///< on the root
};

/// Collective, as model_surfaces(), but the hosts write the layers that they lead. The root removes
/// the file at `path` and its parts first, and writes that file last.
[[nodiscard]] parts_made write_parts(skel::context& ctx, open_function const& open, surface_options options,
                                     skel::multi_host_options how, std::string const& path);

}  // namespace isosurface
