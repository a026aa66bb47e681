#include "piece_mesh.hpp"

#include <algorithm>
#include <cstring>

#include "skel/error.hpp"

namespace isosurface {

piece_mesh::surface_bytes piece_mesh::surface() const {
  if (message) return packed;
  return {std::as_bytes(std::span(positions)), std::as_bytes(std::span(normals)),
          std::as_bytes(std::span(triangles))};
}

}  // namespace isosurface

namespace {

using isosurface::edge_key;
using isosurface::foreign_bit;
using isosurface::piece_mesh;
using isosurface::shared_vertex;

/// The head of a message. It is followed by the parts, positions, normals, triangles, and the
/// edges, which are relative to the first one. Indices of 16 bits and edges of 32 bits usually
/// suffice.
struct message_head {
  isosurface::surface_counts counts;
  edge_key first_edge = 0;
  std::uint32_t parts = 0;
  std::uint32_t narrow = 0;
};
struct narrow {
  using index = std::uint16_t;
  using edge = std::uint32_t;
};
struct wide {
  using index = std::uint32_t;
  using edge = edge_key;
};

template <class Call>
void for_all_edges(piece_mesh const& m, Call const& call) {
  for (auto const e : m.foreign) call(e);
  for (auto const* const list : {&m.above, &m.last_row})
    for (auto const& s : *list) call(s.edge);
}

message_head head_of(piece_mesh const& m) {
  edge_key least = UINT64_MAX, greatest = 0;
  for_all_edges(m, [&](edge_key e) { least = std::min(least, e), greatest = std::max(greatest, e); });
  if (least > greatest) least = greatest;  // no edges
  bool const fits = greatest - least <= UINT32_MAX && std::ranges::all_of(m.parts, [](auto const& p) {
                      return std::max(p.vertices, p.foreign) <= foreign_bit<narrow::index>;
                    });
  return {m.counts, least, static_cast<std::uint32_t>(m.parts.size()),
          (m.message ? m.packed.narrow : fits) ? 1U : 0U};
}

/// Appends convert(x) for all x, buffered in a small array, because single appends check the
/// capacity each time.
template <class From, class Convert>
void put_all(std::vector<std::byte>& out, std::span<From const> from, Convert const& convert) {
  constexpr std::size_t block = 512;
  std::array<decltype(convert(from[0])), block> some;
  while (!from.empty()) {
    auto const n = std::min(block, from.size());
    for (std::size_t i = 0; i < n; ++i) some[i] = convert(from[i]);
    auto const bytes = std::as_bytes(std::span(some).first(n));
    out.insert(out.end(), bytes.begin(), bytes.end());
    from = from.subspan(n);
  }
}

/// Calls `call` for the next n values, which may lie at any address.
template <class T, class Call>
void get_all(std::span<std::byte const>& in, std::uint64_t n, Call const& call) {
  auto const bytes = skel::bytes::get_bytes(in, n * sizeof(T));
  for (std::size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    call(value);
  }
}

void put_bytes(std::vector<std::byte>& out, std::span<std::byte const> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_surface(piece_mesh const& m, bool narrow_indices, std::vector<std::byte>& out) {
  auto const s = m.surface();
  put_bytes(out, s.positions);
  put_bytes(out, s.normals);
  if (s.narrow == narrow_indices)
    put_bytes(out, s.triangles);
  else
    put_all(out, std::span(m.triangles), [](std::array<std::uint32_t, 3> const& t) {
      std::array<std::uint16_t, 3> to{};
      for (std::size_t c = 0; c < 3; ++c)  // moves the mark from bit 31 to bit 15
        to[c] = static_cast<std::uint16_t>((t[c] & 0x7fffU) | (t[c] >> 16U & 0x8000U));
      return to;
    });
}

template <class Width>
void put_edges(piece_mesh const& m, edge_key first, std::vector<std::byte>& out) {
  using edge = typename Width::edge;
  using index = typename Width::index;
  put_all(out, std::span(m.foreign), [=](edge_key e) { return static_cast<edge>(e - first); });
  for (auto const* const list : {&m.above, &m.last_row}) {
    put_all(out, std::span(*list), [=](shared_vertex const& s) { return static_cast<edge>(s.edge - first); });
    put_all(out, std::span(*list), [](shared_vertex const& s) { return static_cast<index>(s.vertex); });
  }
}

template <class Width>
void get_shared(std::span<std::byte const>& in, edge_key first, std::vector<piece_mesh::part> const& parts,
                std::uint32_t piece_mesh::part::*count, std::vector<shared_vertex>& to) {
  std::uint64_t n = 0;
  for (auto const& p : parts) n += p.*count;
  auto const edges = skel::bytes::get_bytes(in, n * sizeof(typename Width::edge));
  auto const vertices = skel::bytes::get_bytes(in, n * sizeof(typename Width::index));
  to.resize(n);
  auto* next = to.data();
  auto rest = edges;
  get_all<typename Width::edge>(rest, n, [&](auto e) { next++->edge = first + e; });
  next = to.data();
  rest = vertices;
  for (auto const& p : parts)
    get_all<typename Width::index>(rest, p.*count, [&](auto v) {
      if (v >= p.vertices) throw skel::protocol_error("a piece shares a missing vertex");
      next++->vertex = v;
    });
}

template <class Width>
void get_edges(std::span<std::byte const>& in, edge_key first, std::uint64_t foreign, piece_mesh& m) {
  auto const edges = skel::bytes::get_bytes(in, foreign * sizeof(typename Width::edge));
  m.foreign.resize(foreign);
  auto* next = m.foreign.data();
  auto rest = edges;
  get_all<typename Width::edge>(rest, foreign, [&](auto e) { *next++ = first + e; });
  get_shared<Width>(in, first, m.parts, &piece_mesh::part::above, m.above);
  get_shared<Width>(in, first, m.parts, &piece_mesh::part::last_row, m.last_row);
}

}  // namespace

void skel::transfer_traits<piece_mesh>::pack(piece_mesh const& m, std::vector<std::byte>& out) {
  auto const head = head_of(m);
  skel::bytes::put_raw(out, head);
  put_bytes(out, std::as_bytes(std::span(m.parts)));
  put_surface(m, head.narrow != 0, out);
  if (head.narrow != 0)
    put_edges<narrow>(m, head.first_edge, out);
  else
    put_edges<wide>(m, head.first_edge, out);
}

piece_mesh skel::transfer_traits<piece_mesh>::unpack(std::span<std::byte const>& in,
                                                     std::shared_ptr<void const> const& owner) {
  auto const head = skel::bytes::get_raw<message_head>(in);
  piece_mesh m;
  m.counts = head.counts;
  std::uint64_t vertices = 0, triangles = 0, foreign = 0;
  get_all<piece_mesh::part>(in, head.parts, [&](piece_mesh::part const& p) {
    m.parts.push_back(p);
    vertices += p.vertices, triangles += p.triangles, foreign += p.foreign;
  });
  m.message = owner;
  m.packed.narrow = head.narrow != 0;
  auto const index_bytes = m.packed.narrow ? sizeof(narrow::index) : sizeof(wide::index);
  m.packed.positions = skel::bytes::get_bytes(in, vertices * sizeof(isosurface::point));
  m.packed.normals = skel::bytes::get_bytes(in, vertices * sizeof(isosurface::point));
  m.packed.triangles = skel::bytes::get_bytes(in, triangles * 3 * index_bytes);
  if (m.packed.narrow)
    get_edges<narrow>(in, head.first_edge, foreign, m);
  else
    get_edges<wide>(in, head.first_edge, foreign, m);
  return m;
}

piece_mesh skel::transfer_traits<piece_mesh>::unpack(std::span<std::byte const>& in) {
  auto const begin = in;
  static_cast<void>(unpack(in, nullptr));
  auto const copy = std::make_shared<std::vector<std::byte>>(
      begin.begin(), begin.end() - static_cast<std::ptrdiff_t>(in.size()));
  std::span<std::byte const> all(*copy);
  return unpack(all, copy);
}
