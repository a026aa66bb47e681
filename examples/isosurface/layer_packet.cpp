#include "layer_packet.hpp"

#include <algorithm>
#include <optional>

#include "needed_samples.hpp"
#include "skel/serialization.hpp"

namespace isosurface {

range own_cells(layer_packet const& p) { return {p.cells.first, p.nodes.end - 1}; }

}  // namespace isosurface

namespace {

using isosurface::layer_packet;
using isosurface::needed_samples;
using isosurface::range;

template <class Rows>
auto rows_of(Rows const& all, std::size_t first_row, range rows, std::size_t length) {
  return std::span(all).subspan((rows.first - first_row) * length, (rows.end - rows.first) * length);
}

/// One byte per node or cell.
void pack_rows(std::vector<std::uint8_t> const& all, std::size_t first_row, range rows, std::size_t length,
               std::vector<std::byte>& out) {
  skel::bytes::put_block(out, std::as_bytes(rows_of(all, first_row, rows, length)));
}

void pack_holes(isosurface::hole_rows const* holes, range rows, layer_packet const& p,
                std::vector<std::byte>& out) {
  skel::pack(holes != nullptr, out);
  if (holes != nullptr) pack_rows(holes->cells, holes->first_row, rows, p.lengths[2], out);
}

bool is_own(std::size_t slice, std::size_t layer) { return slice == layer || slice == layer + 1; }

std::shared_ptr<isosurface::hole_rows const> unpack_holes(layer_packet const& p,
                                                          std::span<std::byte const>& in) {
  if (!skel::unpack<bool>(in)) return nullptr;
  auto holes = std::make_shared<isosurface::hole_rows>();
  holes->first_row = p.cells.first;
  holes->cells = skel::unpack<std::vector<std::uint8_t>>(in);
  return holes;
}

struct packet_head {
  std::uint64_t number, first_slice, slices, slices_read, first_piece;
  range samples, nodes, cells;
  std::array<std::size_t, 3> lengths;
  std::uint64_t near_surfaces;
};

}  // namespace

void skel::transfer_traits<layer_packet>::pack(layer_packet const& p, std::vector<std::byte>& out) {
  auto const& l = p.layer;
  skel::pack(packet_head{l.number, l.first_slice, l.slices.size(), l.slices_read, p.first_piece, p.samples,
                         p.nodes, p.cells, p.lengths, p.near_surfaces ? 1U : 0U},
             out);
  isosurface::layer_view const view(*p.grid, l);
  std::optional<needed_samples> needed;
  if (p.near_surfaces) needed.emplace(*p.grid, view, p.nodes, p.samples);
  for (std::size_t s = 0; s < l.slices.size(); ++s) {
    auto const& slice = *l.slices[s];
    auto const z = l.first_slice + s;
    if (!needed) {
      auto const all = rows_of(slice.samples, slice.first_row, p.samples, p.lengths[0]);
      skel::bytes::put_bytes(out, all.data(), all.size_bytes());
    } else if (is_own(z, l.number)) {
      for (auto y = p.samples.first; y < p.samples.end; ++y) needed->pack_row(y, view.samples(z, y), out);
    } else {
      std::vector<float> at_nodes(p.lengths[1]);
      for (auto n = p.nodes.first; n < p.nodes.end; ++n) {
        for (std::size_t x = 0; x < at_nodes.size(); ++x) at_nodes[x] = view.node_sample(z, x, n);
        needed->pack_node_row(n, at_nodes.data(), out);
      }
    }
    if (is_own(z, l.number)) pack_rows(slice.classes, slice.first_node_row, p.nodes, p.lengths[1], out);
  }
  pack_holes(l.holes.get(), own_cells(p), p, out);
  pack_holes(l.holes_below.get(), p.cells, p, out);
}

std::size_t skel::transfer_traits<layer_packet>::size(layer_packet const& p) {
  auto const rows = [](range r, std::size_t bytes) {
    return skel::bytes::most_varint + (r.end - r.first) * bytes;
  };
  return sizeof(packet_head) +
         p.layer.slices.size() * rows(p.samples, needed_samples::most_bytes(p.lengths[0])) +
         2 * rows(p.nodes, p.lengths[1]) +
         ((p.layer.holes ? 1 : 0) + (p.layer.holes_below ? 1 : 0)) * rows(p.cells, p.lengths[2]) +
         2 * sizeof(bool);
}

layer_packet skel::transfer_traits<layer_packet>::unpack(std::span<std::byte const>& in) {
  auto const head = skel::unpack<packet_head>(in);
  layer_packet p;
  p.first_piece = head.first_piece;
  p.samples = head.samples, p.nodes = head.nodes, p.cells = head.cells, p.lengths = head.lengths;
  p.near_surfaces = head.near_surfaces != 0;
  p.layer.number = head.number, p.layer.first_slice = head.first_slice,
  p.layer.slices_read = head.slices_read;
  for (std::size_t s = 0; s < head.slices; ++s) {
    auto slice = std::make_shared<isosurface::slice_rows>();
    bool const own = is_own(head.first_slice + s, head.number);
    slice->only_nodes = p.near_surfaces && !own;
    slice->first_node_row = p.nodes.first;
    auto const rows = slice->only_nodes ? p.nodes : p.samples;
    slice->first_row = rows.first;
    auto const length = p.lengths[slice->only_nodes ? 1 : 0];
    slice->samples.resize((rows.end - rows.first) * length);
    std::span<float> to(slice->samples);
    if (p.near_surfaces)
      for (; !to.empty(); to = to.subspan(length)) needed_samples::unpack_row(in, to.first(length));
    else
      std::ranges::copy(skel::bytes::get_bytes(in, to.size_bytes()), std::as_writable_bytes(to).begin());
    if (own) slice->classes = skel::unpack<std::vector<std::uint8_t>>(in);
    p.layer.slices.push_back(std::move(slice));
  }
  p.layer.holes = unpack_holes(p, in);
  p.layer.holes_below = unpack_holes(p, in);
  return p;
}
