#include "trilinear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "active_cells.hpp"
#include "case_table.hpp"
#include "first_user.hpp"
#include "node_slopes.hpp"

namespace isosurface {

namespace {

/// Bits of the edges on the low side of a cell along an axis, except those parallel to it.
constexpr unsigned low_side(std::size_t axis) {
  unsigned bits = 0;
  for (unsigned e = 0; e < 12; ++e)
    if (cube_edges[e].axis != axis && cube_edges[e].from[axis] == 0) bits |= 1U << e;
  return bits;
}
constexpr unsigned high_side(std::size_t axis) {
  unsigned bits = 0;
  for (unsigned e = 0; e < 12; ++e)
    if (cube_edges[e].axis != axis && cube_edges[e].from[axis] == 1) bits |= 1U << e;
  return bits;
}

class extraction {
 public:
  extraction(node_grid const& grid, std::vector<double> const& values, layer_view const& layer, range rows)
      : grid_(grid), values_(values), layer_(layer), rows_(rows), lattice_(grid, 1), slopes_(grid, layer) {
    for (auto& a : vertices_) a.resize(grid.axis(0).at.size());
  }

  piece_mesh run() {
    active_cells const cells(grid_, layer_, rows_, values_.size());
    mesh_.counts = cells.counts;
    mesh_.positions.reserve(cells.total() * 5 / 4);
    mesh_.normals.reserve(cells.total() * 5 / 4);
    mesh_.triangles.reserve(cells.total() * 5 / 2);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      value_ = values_[v];
      part_ = {};
      first_vertex_ = mesh_.positions.size();
      for (row_.number = rows_.first; row_.number < rows_.end; ++row_.number) {
        begin_row();
        for (auto const& cell : cells.of(v, row_.number)) add_cell(cell);
        std::swap(vertices_[0], vertices_[1]);  // the high side in y is the low side of the next row
        std::swap(vertices_[2], vertices_[3]);
        std::swap(vertices_[8], vertices_[10]);
      }
      part_.vertices = static_cast<std::uint32_t>(mesh_.positions.size() - first_vertex_);
      mesh_.parts.push_back(part_);
    }
    return std::move(mesh_);
  }

 private:
  void begin_row() {
    row_.seen = (row_.number > rows_.first ? low_side(1) : 0U);
    row_.foreign = (row_.number == rows_.first && row_.number > 0 ? low_side(1) : 0U) |
                   (grid_.joined_below(layer_.number()) ? low_side(2) : 0U);
    row_.to_last =
        row_.number + 1 == rows_.end && row_.number + 1 < grid_.axis(1).cells() ? high_side(1) : 0U;
    auto const above = layer_.number() + 1;
    row_.to_above = above < grid_.layers() && grid_.joined_below(above) ? high_side(2) : 0U;
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t j = 0; j < 2; ++j)
        row_.corners[j + 2 * s] = layer_.samples(layer_.number() + s, grid_.axis(1).sample[row_.number + j]);
  }

  void add_cell(active_cell const& cell) {
    auto const x = std::size_t{cell.x};
    auto const& c = cube_cases()[cell.above];
    unsigned fresh = c.edges, foreign = row_.foreign;
    if (layer_.has_holes())
      ask_for_users(x, fresh, foreign);
    else
      fresh &= ~(row_.seen | (x > 0 ? low_side(0) : 0U));
    for (; fresh != 0; fresh &= fresh - 1) {
      auto const e = static_cast<std::size_t>(std::countr_zero(fresh));
      vertex(e, x) = ((foreign >> e) & 1U) != 0 ? add_foreign(e, x) : add_vertex(e, x);
    }
    for (std::size_t i = 0; i < 3U * c.triangles; i += 3)
      mesh_.triangles.push_back(
          {vertex(c.corners[i], x), vertex(c.corners[i + 1], x), vertex(c.corners[i + 2], x)});
    part_.triangles += c.triangles;
    mesh_.counts.polygons += c.polygons;
  }

  /// If neighbours may be holes, a vertex that they would have made may be missing.
  void ask_for_users(std::size_t x, unsigned& fresh, unsigned& foreign) const {
    foreign = 0;
    for (unsigned e = 0; e < 12; ++e) {
      if (((fresh >> e) & 1U) == 0) continue;
      place_in_cell place{};
      for (std::size_t a = 0; a < 3; ++a)
        if (a != cube_edges[e].axis) place[a] = cube_edges[e].from[a] == 0 ? -1 : 1;
      if (!grid_.joined_below(layer_.number())) place[2] = std::max(place[2], 0);
      auto const user = find_first_user(layer_, rows_, row_.number, x, place,
                                        {grid_.axis(0).cells(), grid_.axis(1).cells()});
      if (user == first_user::this_piece) fresh &= ~(1U << e);
      if (user == first_user::other_piece) foreign |= 1U << e;
    }
  }

  /// The number of the vertex on an edge of the cell at x of this row.
  std::uint32_t& vertex(std::size_t edge, std::size_t x) {
    return edge < 4 ? vertices_[edge][x] : vertices_[edge & ~std::size_t{1}][x + (edge & 1U)];
  }

  [[nodiscard]] edge_key key(std::size_t edge, std::size_t x) const {
    auto const& from = cube_edges[edge].from;
    return lattice_.key(cube_edges[edge].axis, x + from[0], row_.number + from[1], layer_.number() + from[2]);
  }

  std::uint32_t add_foreign(std::size_t edge, std::size_t x) {
    mesh_.foreign.push_back(key(edge, x));
    return foreign_bit<std::uint32_t> | part_.foreign++;
  }

  std::uint32_t add_vertex(std::size_t edge, std::size_t x) {
    auto const axis = std::size_t{cube_edges[edge].axis};
    auto const& from = cube_edges[edge].from;
    std::array<std::size_t, 3> const a{x + from[0], row_.number + from[1], layer_.number() + from[2]};
    auto b = a;
    ++b[axis];
    auto const sample = [&](std::array<std::size_t, 3> const& n) {
      return double{
          row_.corners[n[1] - row_.number + 2 * (n[2] - layer_.number())][grid_.axis(0).sample[n[0]]]};
    };
    double const low = sample(a), t = (value_ - low) / (sample(b) - low);
    point p{};
    for (std::size_t i = 0; i < 3; ++i) p[i] = static_cast<float>(grid_.axis(i).at[a[i]]);
    p[axis] = static_cast<float>(std::lerp(grid_.axis(axis).at[a[axis]], grid_.axis(axis).at[b[axis]], t));
    mesh_.positions.push_back(p);
    auto const g = slopes_.slope(a), h = slopes_.slope(b);
    mesh_.normals.push_back(
        normalized({-(g[0] + t * (h[0] - g[0])), -(g[1] + t * (h[1] - g[1])), -(g[2] + t * (h[2] - g[2]))}));

    auto const number = static_cast<std::uint32_t>(mesh_.positions.size() - 1 - first_vertex_);
    if (((row_.to_above >> edge) & 1U) != 0) mesh_.above.push_back({key(edge, x), number}), ++part_.above;
    if (((row_.to_last >> edge) & 1U) != 0)
      mesh_.last_row.push_back({key(edge, x), number}), ++part_.last_row;
    return number;
  }

  node_grid const& grid_;
  std::vector<double> const& values_;
  layer_view const& layer_;
  range rows_;
  edge_lattice lattice_;
  node_slopes slopes_;
  piece_mesh mesh_;

  // State of the current value:
  double value_ = 0;
  std::size_t first_vertex_ = 0;
  piece_mesh::part part_;
  struct {
    std::size_t number = 0;
    std::array<float const*, 4> corners{};                      // rows of samples
    unsigned seen = 0, foreign = 0, to_last = 0, to_above = 0;  // bits of edges
  } row_;
  // Per edge of a cell (of two along y or z: the first), by the x of its first end.
  std::array<std::vector<std::uint32_t>, 12> vertices_;
};

}  // namespace

piece_mesh extract_trilinear(node_grid const& grid, std::vector<double> const& values,
                             layer_view const& layer, range rows) {
  return extraction(grid, values, layer, rows).run();
}

}  // namespace isosurface
