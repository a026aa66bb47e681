#include "mesh_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "flat_normals.hpp"
#include "skel/error.hpp"

namespace isosurface {

namespace {

[[noreturn]] void nobody_has(std::size_t layer, std::size_t piece, edge_key edge) {
  throw skel::error(fmt::format("layer {}, piece {}: no vertex for edge {}", layer, piece, edge));
}

template <class Index>
using triangle_of = std::array<Index, 3>;

void copy_points(std::span<std::byte const> from, point* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

/// Converts a piece's vertex numbers to the mesh's. `from` may lie at any address, and its contents
/// are not trusted.
template <class Index, class Elsewhere>
void join_triangles(std::span<std::byte const> from, piece_mesh::part const& count,
                    std::uint32_t first_vertex, Elsewhere const& elsewhere, triangle_of<std::uint32_t>* to) {
  constexpr auto bit = foreign_bit<Index>;
  for (; !from.empty(); from = from.subspan(sizeof(triangle_of<Index>)), ++to) {
    triangle_of<Index> t;
    std::memcpy(&t, from.data(), sizeof t);
    for (std::size_t c = 0; c < 3; ++c) {
      bool const is_foreign = (t[c] & bit) != 0;
      std::uint32_t const i = t[c] & static_cast<Index>(~bit);
      if (i >= (is_foreign ? count.foreign : count.vertices))
        throw skel::error("a triangle names a vertex that its piece does not have");
      (*to)[c] = is_foreign ? elsewhere(i) : first_vertex + i;
    }
  }
}

}  // namespace

std::optional<std::uint32_t> mesh_builder::shared_list::find(edge_key edge) {
  constexpr std::size_t near = 8;
  for (auto i = next_; i < std::min(next_ + near, vertices_.size()); ++i)
    if (vertices_[i].edge == edge) return next_ = i + 1, first_vertex_ + vertices_[i].vertex;
  if (vertices_.empty()) return std::nullopt;
  auto const by_edge = [&](std::uint32_t i) { return vertices_[i].edge; };
  if (sorted_.empty()) {
    sorted_.resize(vertices_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::ranges::sort(sorted_, {}, by_edge);
  }
  auto const at = std::ranges::lower_bound(sorted_, edge, {}, by_edge);
  if (at == sorted_.end() || by_edge(*at) != edge) return std::nullopt;
  next_ = *at + std::size_t{1};
  return first_vertex_ + vertices_[*at].vertex;
}

mesh_builder::mesh_builder(node_grid const& grid, edge_lattice const& lattice, std::vector<double> values)
    : grid_(grid), lattice_(lattice), values_(std::move(values)), layers_(grid.layers()) {}

/// The vertex usually belongs to the same piece of the layer below; on its last row, to the
/// previous piece; with holes, to the next.
std::optional<std::uint32_t> mesh_builder::find_below(std::size_t layer, std::size_t piece, std::size_t value,
                                                      edge_key edge) {
  auto& below = layers_[layer - 1].above;
  auto const of = [&](std::size_t p) { return below[p].of_value[value].find(edge); };
  std::optional<std::uint32_t> found;
  bool const first_row = lattice_.row(edge) == grid_.rows(piece).first * lattice_.per_cell();
  if (first_row && piece > 0) found = of(piece - 1);
  if (!found) found = of(piece);
  if (!found && piece + 1 < below.size()) found = of(piece + 1);
  if (found) *found |= below_bit;
  return found;
}

void mesh_builder::find(std::size_t layer, std::size_t piece, std::size_t value, edge_key edge,
                        kept_piece& p) {
  auto& here = layers_[layer];
  bool const in_plane = layer > 0 && lattice_.in_plane(edge, layer * lattice_.per_cell());
  bool const look_below = in_plane && whole(layer - 1);
  std::optional<std::uint32_t> found;
  if (look_below) found = find_below(layer, piece, value, edge);
  if (!found && piece > 0) found = here.last_row.of_value[value].find(edge);
  if (!found && (!in_plane || look_below)) nobody_has(layer, piece, edge);
  if (!found) here.open.push_back({here.kept.size(), p.foreign.size(), piece, value, edge});
  p.foreign.push_back(found.value_or(0));
}

void mesh_builder::add(std::size_t layer, std::size_t piece, piece_mesh&& m) {
  if (m.parts.size() != values_.size()) throw skel::error("a piece has another number of surfaces");
  auto& here = layers_.at(layer);
  if (piece != here.added || whole(layer))
    throw skel::error(fmt::format("layer {}: piece {} comes after {} pieces", layer, piece, here.added));
  here.vertices.resize(values_.size());
  here.triangles.resize(values_.size());
  kept_piece kept;
  shared_vertices above{std::move(m.above), {}}, last_row{std::move(m.last_row), {}};
  std::size_t foreign = 0, next_above = 0, next_of_row = 0;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    auto const& p = m.parts[v];
    if (here.vertices[v] + p.vertices >= below_bit)
      throw skel::error(fmt::format("more than {} vertices for one value in a layer", below_bit));
    auto const first = static_cast<std::uint32_t>(here.vertices[v]);
    kept.first_vertex.push_back(first);
    for (std::size_t i = 0; i < p.foreign; ++i) find(layer, piece, v, m.foreign.at(foreign + i), kept);
    above.of_value.emplace_back(std::span(above.all).subspan(next_above, p.above), first);
    last_row.of_value.emplace_back(std::span(last_row.all).subspan(next_of_row, p.last_row), first);
    foreign += p.foreign, next_above += p.above, next_of_row += p.last_row;
    here.vertices[v] += p.vertices;
    here.triangles[v] += p.triangles;
  }
  here.above.push_back(std::move(above));
  here.last_row = std::move(last_row);
  counts_ += m.counts;
  if (!m.surface().triangles.empty()) {
    m.foreign = {};
    kept.mesh = std::move(m);
    here.kept.push_back(std::move(kept));
  }
  ++here.added;
  if (!whole(layer)) return;
  here.last_row = {};
  if (layer > 0 && whole(layer - 1)) join(layer);
  if (layer + 1 < layers_.size() && whole(layer + 1)) join(layer + 1);
}

/// Joins this layer and the one below, both of which are complete.
void mesh_builder::join(std::size_t layer) {
  auto& here = layers_[layer];
  for (auto const& o : here.open) {
    auto const found = find_below(layer, o.piece, o.value, o.edge);
    if (!found) nobody_has(layer, o.piece, o.edge);
    here.kept[o.kept].foreign[o.at] = *found;
  }
  here.open = {};
  layers_[layer - 1].above = {};
}

void mesh_builder::append(kept_piece const& p, std::size_t layer, std::vector<std::uint32_t> const& first,
                          std::vector<std::size_t>& next_triangle, mesh& to) const {
  auto from = p.mesh.surface();
  auto const next = [](std::span<std::byte const>& bytes, std::size_t n) {
    auto const these = bytes.first(n);
    bytes = bytes.subspan(n);
    return these;
  };
  std::span<std::uint32_t const> foreign(p.foreign);
  for (std::size_t v = 0; v < values_.size(); ++v) {
    auto const& count = p.mesh.parts[v];
    auto const of_layer = first[layer * values_.size() + v];
    auto const of_below = layer > 0 ? first[(layer - 1) * values_.size() + v] : 0;
    auto const of_piece = of_layer + p.first_vertex[v];
    copy_points(next(from.positions, count.vertices * sizeof(point)), to.positions.data() + of_piece);
    copy_points(next(from.normals, count.vertices * sizeof(point)), to.normals.data() + of_piece);
    auto const elsewhere = [&](std::size_t i) {
      auto const number = foreign[i];
      return (number & below_bit) != 0 ? of_below + (number & ~below_bit) : of_layer + number;
    };
    auto* const out = to.triangles.data() + next_triangle[v];
    if (from.narrow)
      join_triangles<std::uint16_t>(
          next(from.triangles, count.triangles * sizeof(triangle_of<std::uint16_t>)), count, of_piece,
          elsewhere, out);
    else
      join_triangles<std::uint32_t>(
          next(from.triangles, count.triangles * sizeof(triangle_of<std::uint32_t>)), count, of_piece,
          elsewhere, out);
    next_triangle[v] += count.triangles;
    foreign = foreign.subspan(count.foreign);
  }
}

/// Computes the first vertex of each layer and value. Values are grouped within layers; surfaces
/// follow each other.
std::vector<std::uint32_t> mesh_builder::lay_out(std::size_t layers, mesh& to) const {
  std::vector<std::uint32_t> first(layers * values_.size());
  std::size_t vertices = 0, triangles = 0;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    surface_part part{values_[v], vertices, 0, triangles, 0};
    for (std::size_t layer = 0; layer < layers; ++layer) {
      first[layer * values_.size() + v] = static_cast<std::uint32_t>(vertices);
      vertices += layers_[layer].vertices[v];
      triangles += layers_[layer].triangles[v];
    }
    part.end_vertex = vertices;
    part.end_triangle = triangles;
    to.parts.push_back(part);
  }
  if (vertices > UINT32_MAX) throw skel::error("more than 4294967295 vertices");
  to.positions.resize(vertices);
  to.normals.resize(vertices);
  to.triangles.resize(triangles);
  return first;
}

mesh mesh_builder::finish() {
  std::size_t layers = 0;
  while (layers < layers_.size() && whole(layers)) ++layers;
  mesh all;
  auto const first = lay_out(layers, all);
  std::vector<std::size_t> next_triangle;
  next_triangle.reserve(all.parts.size());
  for (auto const& p : all.parts) next_triangle.push_back(p.first_triangle);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (auto& p : layers_[layer].kept) {
      append(p, layer, first, next_triangle, all);
      p = {};
    }
    layers_[layer].kept = {};
  }
  fill_flat_normals(all);
  return all;
}

}  // namespace isosurface
