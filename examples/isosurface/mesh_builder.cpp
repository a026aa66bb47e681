#include "mesh_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "flat_normals.hpp"
#include "skel/error.hpp"

namespace skel::isosurface {

void mesh_builder::shared_list::assign(std::span<shared_vertex const> from, std::uint32_t first_vertex) {
  vertices_.assign(from.begin(), from.end());
  for (auto& v : vertices_) v.vertex += first_vertex;
  sorted_.clear();
  next_ = 0;
}

shared_vertex const* mesh_builder::shared_list::find(edge_key edge) {
  constexpr std::size_t near = 8;
  for (auto i = next_; i < std::min(next_ + near, vertices_.size()); ++i)
    if (vertices_[i].edge == edge) return next_ = i + 1, &vertices_[i];
  if (vertices_.empty()) return nullptr;
  auto const by_edge = [&](std::uint32_t i) { return vertices_[i].edge; };
  if (sorted_.empty()) {
    sorted_.resize(vertices_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::ranges::sort(sorted_, {}, by_edge);
  }
  auto const at = std::ranges::lower_bound(sorted_, edge, {}, by_edge);
  if (at == sorted_.end() || by_edge(*at) != edge) return nullptr;
  next_ = *at + std::size_t{1};
  return &vertices_[*at];
}

mesh_builder::mesh_builder(node_grid const& grid, edge_lattice const& lattice, std::vector<double> values)
    : grid_(grid), lattice_(lattice), surfaces_(values.size()) {
  for (std::size_t v = 0; v < values.size(); ++v) {
    surfaces_[v].value = values[v];
    surfaces_[v].below.resize(grid.pieces());
    surfaces_[v].here.resize(grid.pieces());
  }
}

std::uint32_t mesh_builder::find(surface& s, std::size_t piece, edge_key edge) const {
  shared_vertex const* found = nullptr;
  if (layer_ > 0 && lattice_.in_plane(edge, layer_ * lattice_.per_cell())) {
    // Mostly of the same piece of the layer below; of the one before when on its last row; of the next where
    // there are holes.
    bool const first_row = lattice_.row(edge) == grid_.rows(piece).first * lattice_.per_cell();
    if (first_row && piece > 0) found = s.below[piece - 1].find(edge);
    if (found == nullptr) found = s.below[piece].find(edge);
    if (found == nullptr && piece + 1 < s.below.size()) found = s.below[piece + 1].find(edge);
  }
  if (found == nullptr) found = s.last_row.find(edge);
  if (found == nullptr)
    throw error(fmt::format("layer {}, piece {}: nobody has edge {}", layer_, piece, edge));
  return found->vertex;
}

void mesh_builder::add(std::size_t layer, std::size_t piece, piece_mesh&& m) {
  if (m.parts.size() != surfaces_.size()) throw error("a piece of other surfaces");
  if (layer != layer_)
    for (auto& s : surfaces_) std::swap(s.below, s.here);
  layer_ = layer;
  kept_piece kept;
  std::size_t foreign = 0, above = 0, last_row = 0;
  for (std::size_t v = 0; v < surfaces_.size(); ++v) {
    auto& s = surfaces_[v];
    auto const& p = m.parts[v];
    if (s.vertices + p.vertices >= piece_mesh::foreign_bit)
      throw error(fmt::format("more than {} vertices for one value", piece_mesh::foreign_bit));
    auto const first = static_cast<std::uint32_t>(s.vertices);
    kept.first_vertex.push_back(first);
    for (std::size_t i = 0; i < p.foreign; ++i)
      kept.foreign.push_back(find(s, piece, m.foreign[foreign + i]));
    s.here[piece].assign(std::span(m.above).subspan(above, p.above), first);
    s.last_row.assign(std::span(m.last_row).subspan(last_row, p.last_row), first);
    foreign += p.foreign, above += p.above, last_row += p.last_row;
    s.vertices += p.vertices;
    s.triangles += p.triangles;
  }
  counts_.polygons += m.counts.polygons;
  counts_.active += m.counts.active;
  counts_.holes += m.counts.holes;
  counts_.unresolved += m.counts.unresolved;
  counts_.slices_read += m.counts.slices_read;
  if (m.triangles.empty()) return;
  m.foreign = {};
  m.above = {};
  m.last_row = {};
  kept.mesh = std::move(m);
  pieces_.push_back(std::move(kept));
}

void mesh_builder::append(kept_piece const& p, std::vector<std::size_t>& next_triangle, mesh& to) const {
  auto position = p.mesh.positions.begin();
  auto normal = p.mesh.normals.begin();
  auto triangle = p.mesh.triangles.begin();
  auto const* foreign = p.foreign.data();
  for (std::size_t v = 0; v < surfaces_.size(); ++v) {
    auto const& count = p.mesh.parts[v];
    auto const surface_first = static_cast<std::uint32_t>(to.parts[v].first_vertex);
    auto const first = surface_first + p.first_vertex[v];
    std::copy_n(position, count.vertices, to.positions.begin() + first);
    std::copy_n(normal, count.vertices, to.normals.begin() + first);
    position += count.vertices, normal += count.vertices;
    auto* out = to.triangles.data() + next_triangle[v];
    for (auto const end = triangle + count.triangles; triangle != end; ++triangle, ++out)
      for (std::size_t c = 0; c < 3; ++c) {
        auto const i = (*triangle)[c];
        (*out)[c] = (i & piece_mesh::foreign_bit) == 0
                        ? first + i
                        : surface_first + foreign[i & ~piece_mesh::foreign_bit];
      }
    next_triangle[v] += count.triangles;
    foreign += count.foreign;
  }
}

mesh mesh_builder::finish() {
  mesh all;
  std::vector<std::size_t> next_triangle;
  std::size_t vertices = 0, triangles = 0;
  for (auto const& s : surfaces_) {
    next_triangle.push_back(triangles);
    all.parts.push_back({s.value, vertices, vertices + s.vertices, triangles, triangles + s.triangles});
    vertices += s.vertices;
    triangles += s.triangles;
  }
  if (vertices > UINT32_MAX) throw error("more than 4294967295 vertices");
  all.positions.resize(vertices);
  all.normals.resize(vertices);
  all.triangles.resize(triangles);
  for (auto& p : pieces_) {
    append(p, next_triangle, all);
    p = {};
  }
  pieces_.clear();
  fill_flat_normals(all);
  return all;
}

}  // namespace skel::isosurface
