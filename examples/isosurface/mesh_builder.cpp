#include "mesh_builder.hpp"

#include <fmt/format.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "flat_normals.hpp"
#include "program/large_pages.hpp"
#include "skel/error.hpp"

namespace isosurface {

namespace {

[[noreturn]] void nobody_has(std::size_t layer, std::size_t piece, edge_key edge) {
  throw skel::error(fmt::format("layer {}, piece {}: no vertex for edge {}", layer, piece, edge));
}

template <class Index>
using triangle_of = std::array<Index, 3>;

/// Makes room on large pages, since the first access to each page is a large part of the time to write a
/// mesh.
template <class T>
void reserve_on_large_pages(std::vector<T>& v, std::size_t n) {
  if (n <= v.capacity()) return;
  std::vector<T> larger;
  larger.reserve(n);
  skel::program::prefer_large_pages(larger.data(), larger.capacity() * sizeof(T));
  larger.insert(larger.end(), v.begin(), v.end());
  v = std::move(larger);
}

constexpr std::size_t at_once = 256;  // points or triangles that are copied together

/// Appends points from any address. A vector would initialise them first if it were resized.
void append_points(std::span<std::byte const> from, std::vector<point>& to) {
  std::array<point, at_once> some;
  while (!from.empty()) {
    auto const bytes = from.first(std::min(from.size(), sizeof some));
    std::memcpy(some.data(), bytes.data(), bytes.size());
    to.insert(to.end(), some.begin(),
              some.begin() + static_cast<std::ptrdiff_t>(bytes.size() / sizeof(point)));
    from = from.subspan(bytes.size());
  }
}

/// How a piece numbers its vertices: its own, from `first` in the mesh, and those that other pieces have.
struct piece_numbers {
  std::uint32_t first;
  std::uint32_t own, foreign;            // how many
  std::uint32_t const* foreign_in_mesh;  // and one more, which is not used
};

/// Converts a piece's vertex numbers to the mesh's, without branches, since triangles with foreign vertices
/// follow no pattern. Returns whether all vertices exist.
template <class Index>
[[gnu::always_inline]] inline bool convert_by(Index const* from, std::size_t n, piece_numbers const& of,
                                              std::uint32_t* __restrict to) {
  constexpr std::uint32_t bit = foreign_bit<Index>;
  auto const first = of.first, own = of.own, foreign = of.foreign;
  auto const* const in_mesh = of.foreign_in_mesh;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t const t = from[i], number = t & (bit - 1);
    bool const is_foreign = (t & bit) != 0;
    bad |= number >= (is_foreign ? foreign : own) ? 1U : 0U;
    auto const elsewhere = in_mesh[is_foreign ? std::min(number, foreign) : foreign];
    to[i] = is_foreign ? elsewhere : first + number;
  }
  return bad == 0;
}

template <class Index>
using convert_function = bool (*)(Index const*, std::size_t, piece_numbers const&, std::uint32_t*);

template <class Index>
bool convert_portable(Index const* from, std::size_t n, piece_numbers const& of, std::uint32_t* to) {
  return convert_by(from, n, of, to);
}
#ifdef __x86_64__
/// Eight numbers at a time.
template <class Index>
[[gnu::target("avx2")]] bool convert_avx2(Index const* from, std::size_t n, piece_numbers const& of,
                                          std::uint32_t* to) {
  constexpr std::size_t lanes = 8;
  auto const first = _mm256_set1_epi32(static_cast<int>(of.first)),
             own = _mm256_set1_epi32(static_cast<int>(of.own)),
             foreign = _mm256_set1_epi32(static_cast<int>(of.foreign)),
             number_bits = _mm256_set1_epi32(static_cast<int>(foreign_bit<Index> - 1U));
  auto good = _mm256_set1_epi32(-1);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    __m256i t;  // the sign says which are foreign
    if constexpr (sizeof(Index) == 2)
      t = _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from + i)));
    else
      t = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from + i));
    auto const is_foreign = _mm256_srai_epi32(t, 31), number = _mm256_and_si256(t, number_bits);
    auto const exists = _mm256_cmpgt_epi32(_mm256_blendv_epi8(own, foreign, is_foreign), number);
    good = _mm256_and_si256(good, exists);
    auto const number_in_mesh = _mm256_mask_i32gather_epi32(
        _mm256_add_epi32(first, number), reinterpret_cast<int const*>(of.foreign_in_mesh), number,
        _mm256_and_si256(is_foreign, exists), sizeof(std::uint32_t));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), number_in_mesh);
  }
  return convert_by(from + i, n - i, of, to + i) && _mm256_movemask_epi8(good) == -1;
}
#endif

template <class Index>
convert_function<Index> find_conversion() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return convert_avx2<Index>;
#endif
  return convert_portable<Index>;
}

/// `from` may lie at any address, and its contents are not trusted.
template <class Index>
void append_triangles(std::span<std::byte const> from, piece_numbers const& of,
                      std::vector<triangle_of<std::uint32_t>>& to) {
  static auto* const convert = find_conversion<Index>();
  std::array<triangle_of<Index>, at_once> some;
  std::array<triangle_of<std::uint32_t>, at_once> converted;
  while (!from.empty()) {
    auto const bytes = from.first(std::min(from.size(), sizeof some));
    std::memcpy(some.data(), bytes.data(), bytes.size());
    auto const n = bytes.size() / sizeof some[0];
    if (!convert(some[0].data(), 3 * n, of, converted[0].data()))
      throw skel::error("a triangle names a vertex that its piece does not have");
    to.insert(to.end(), converted.begin(), converted.begin() + static_cast<std::ptrdiff_t>(n));
    from = from.subspan(bytes.size());
  }
}

}  // namespace

std::optional<std::uint32_t> mesh_builder::shared_list::find(edge_key edge) {
  constexpr std::size_t near = 8;
  constexpr std::size_t most_scans = 8;  // sorting takes longer
  auto const found = [&](std::size_t i) { return next_ = i + 1, first_vertex_ + vertices_[i].vertex; };
  for (auto i = next_; i < std::min(next_ + near, vertices_.size()); ++i)
    if (vertices_[i].edge == edge) return found(i);
  if (scans_ < most_scans) {
    ++scans_;
    auto const at = std::ranges::find(vertices_, edge, &shared_vertex::edge);
    if (at == vertices_.end()) return std::nullopt;
    return found(static_cast<std::size_t>(at - vertices_.begin()));
  }
  auto const by_edge = [&](std::uint32_t i) { return vertices_[i].edge; };
  if (sorted_.empty()) {
    sorted_.resize(vertices_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::ranges::sort(sorted_, {}, by_edge);
  }
  auto const at = std::ranges::lower_bound(sorted_, edge, {}, by_edge);
  if (at == sorted_.end() || by_edge(*at) != edge) return std::nullopt;
  return found(*at);
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
  bool const first_row = edge % 3 == 0 && lattice_.in_row(edge, grid_.rows(piece).first * lattice_.per_cell(),
                                                          layer * lattice_.per_cell());
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
  kept.foreign.reserve(m.foreign.size());
  // Most foreign vertices are those of the same piece of the layer below, in the same order.
  auto* const below_this = layer > 0 && whole(layer - 1) ? &layers_[layer - 1].above[piece] : nullptr;
  shared_vertices above{std::move(m.above), {}}, last_row{std::move(m.last_row), {}};
  std::size_t foreign = 0, next_above = 0, next_of_row = 0;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    auto const& p = m.parts[v];
    if (here.vertices[v] + p.vertices >= below_bit)
      throw skel::error(fmt::format("more than {} vertices for one value in a layer", below_bit));
    auto const first = static_cast<std::uint32_t>(here.vertices[v]);
    kept.first_vertex.push_back(first);
    auto* const below = below_this != nullptr ? &below_this->of_value[v] : nullptr;
    for (std::size_t i = 0; i < p.foreign; ++i) {
      auto const edge = m.foreign.at(foreign + i);
      if (below != nullptr && below->is_next(edge))
        kept.foreign.push_back(below->take_next() | below_bit);
      else
        find(layer, piece, v, edge, kept);
    }
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
    kept.rest = kept.mesh.surface();
    here.kept.push_back(std::move(kept));
  }
  ++here.added;
  if (!whole(layer)) return;
  here.last_row = {};
  if (layer > 0 && whole(layer - 1)) join(layer);
  if (layer + 1 < layers_.size() && whole(layer + 1)) join(layer + 1);
  if (values_.size() == 1) append_single();
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

/// Appends the surface of a value in one layer. Layers follow each other, and so do values.
void mesh_builder::append(std::size_t layer, std::size_t v) {
  auto const below = first_of_layer_;
  auto const first = all_.positions.size();
  if (first + layers_[layer].vertices[v] > UINT32_MAX) throw skel::error("more than 4294967295 vertices");
  first_of_layer_ = static_cast<std::uint32_t>(first);
  for (auto& p : layers_[layer].kept) {
    auto const& count = p.mesh.parts[v];
    elsewhere_.clear();
    for (auto const n : std::span(p.foreign).subspan(
             std::exchange(p.next_foreign, p.next_foreign + count.foreign), count.foreign))
      elsewhere_.push_back((n & below_bit) != 0 ? below + (n & ~below_bit) : first_of_layer_ + n);
    elsewhere_.push_back(0);  // for vertices that are not foreign
    auto const next = [&](std::span<std::byte const>& bytes, std::size_t n) {
      return std::exchange(bytes, bytes.subspan(n)).first(n);
    };
    append_points(next(p.rest.positions, count.vertices * sizeof(point)), all_.positions);
    append_points(next(p.rest.normals, count.vertices * sizeof(point)), all_.normals);
    auto const add = [&]<class Index>(Index /*unused*/) {
      append_triangles<Index>(
          next(p.rest.triangles, count.triangles * sizeof(triangle_of<Index>)),
          {first_of_layer_ + p.first_vertex[v], count.vertices, count.foreign, elsewhere_.data()},
          all_.triangles);
    };
    p.rest.narrow ? add(std::uint16_t{}) : add(std::uint32_t{});
  }
  if (v + 1 == values_.size()) layers_[layer].kept = {};
}

/// A single surface is appended while layers arrive, and its pieces are released. Room for the layers to come
/// is guessed from those that are here.
void mesh_builder::append_single() {
  constexpr std::size_t most_growth = 16;
  for (; next_layer_ < layers_.size() && whole(next_layer_); ++next_layer_) {
    auto const& here = layers_[next_layer_];
    auto const grow = [&](std::size_t size, std::size_t capacity, std::size_t more) {
      auto const needed = size + more;
      auto const guess = needed / (next_layer_ + 1) * (layers_.size() + 1);
      return needed <= capacity ? 0 : std::clamp(guess + guess / 16, needed, most_growth * needed);
    };
    reserve(grow(all_.positions.size(), all_.positions.capacity(), here.vertices[0]),
            grow(all_.triangles.size(), all_.triangles.capacity(), here.triangles[0]));
    append(next_layer_, 0);
  }
}

void mesh_builder::reserve(std::size_t vertices, std::size_t triangles) {
  reserve_on_large_pages(all_.positions, vertices);
  reserve_on_large_pages(all_.normals, vertices);
  reserve_on_large_pages(all_.triangles, triangles);
}

mesh mesh_builder::finish() {
  std::size_t layers = 0, vertices = 0, triangles = 0;
  for (; layers < layers_.size() && whole(layers); ++layers) {
    vertices +=
        std::accumulate(layers_[layers].vertices.begin(), layers_[layers].vertices.end(), std::size_t{0});
    triangles +=
        std::accumulate(layers_[layers].triangles.begin(), layers_[layers].triangles.end(), std::size_t{0});
  }
  if (values_.size() > 1) reserve(vertices, triangles);
  for (std::size_t v = 0; v < values_.size(); ++v) {
    surface_part part{values_[v], v == 0 ? 0 : all_.positions.size(), 0, v == 0 ? 0 : all_.triangles.size(),
                      0};
    for (auto layer = next_layer_; layer < layers; ++layer) append(layer, v);
    part.end_vertex = all_.positions.size();
    part.end_triangle = all_.triangles.size();
    all_.parts.push_back(part);
  }
  fill_flat_normals(all_);
  return std::move(all_);
}

}  // namespace isosurface
