// Extracts the surfaces of one piece from divided tricubic cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "case_table.hpp"
#include "control_net.hpp"
#include "layer.hpp"
#include "piece_mesh.hpp"
#include "surface_patch.hpp"
#include "vertex_table.hpp"

namespace isosurface {

class cell_surface {
 public:
  cell_surface(node_grid const& grid, surface_options const& options, layer_view const& layer, range rows);

  /// Starts a cell. `net` is that of `cell`, divided; both must be unchanged until the next cell starts.
  void begin_cell(tricubic const& cell, control_net const& net, std::size_t x, std::size_t row);
  /// Adds the surface of a value in this cell.
  void add(std::size_t value);
  [[nodiscard]] piece_mesh finish();

  surface_counts counts;

 private:
  using lattice_point = std::array<std::size_t, 3>;  // in the cell, 0 to parts along each axis

  struct surface {
    std::vector<point> positions, normals;
    std::vector<std::array<std::uint32_t, 3>> triangles;
    std::vector<edge_key> foreign;
    std::vector<shared_vertex> above, last_row;
    vertex_table vertices;
  };

  void add_part(std::size_t value, lattice_point const& part);
  std::uint32_t patch_vertex(double value, std::size_t axis, lattice_point const& from);
  void add_patch(surface& s, double value);
  template <class Make>
  std::uint32_t vertex(surface& s, std::size_t axis, lattice_point const& from, Make const& make);
  [[nodiscard]] bool made_elsewhere(std::size_t axis, lattice_point const& from) const;
  std::uint32_t make_vertex(surface& s, double value, std::size_t axis, lattice_point const& from);
  std::uint32_t make_vertex(surface& s, vector3 const& at) const;
  void share(surface& s, std::size_t axis, lattice_point const& from, edge_key edge,
             std::uint32_t vertex) const;
  [[nodiscard]] edge_key key(std::size_t axis, lattice_point const& from) const;
  [[nodiscard]] double coordinate(std::size_t axis, std::size_t at, double t) const;

  node_grid const& grid_;
  std::vector<double> const& values_;
  layer_view const& layer_;
  range rows_;
  edge_lattice lattice_;
  std::vector<surface> surfaces_;  // per value

  double tolerance_;
  tricubic const* polynomial_ = nullptr;
  control_net const* net_ = nullptr;
  lattice_point cell_{};
  std::vector<std::uint8_t> classes_;  // per lattice point: the number of values that are not above it
  surface_patch patch_;                // with a tolerance: the surface in this cell
  vertex_table patch_vertices_;
};

}  // namespace isosurface
