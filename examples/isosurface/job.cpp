#include "job.hpp"

#include <algorithm>

#include "tricubic.hpp"
#include "trilinear.hpp"

namespace isosurface {

std::uint64_t modeler::read(std::uint64_t number, carried& c, unit& into) const {
  auto const layer = static_cast<std::size_t>(number);
  c.latest.slices_read = 0;
  if (!c.volume) begin(layer, c);
  advance(layer, c);
  into = c.latest;
  return grid_.pieces();
}

/// A host that starts in the middle skips the earlier slices. The holes of the layer below
/// determine its vertices; at order 3 they may depend on one more slice.
void modeler::begin(std::size_t layer, carried& c) const {
  c.volume = open_();
  bool const look_below = layer > 0 && grid_.may_have_holes();
  auto const below = grid_.slices(look_below ? layer - 1 : layer);
  auto& latest = c.latest;
  latest.first_slice =
      !look_below || options_.order == 3 ? below.first : std::min(grid_.slices(layer).first, layer - 1);
  c.volume->skip(latest.first_slice);
  if (!look_below) return;
  read_slices(below.end, c);
  latest.number = layer - 1;
  latest.holes = find_holes(grid_, latest, options_.order);
}

void modeler::read_slices(std::size_t end, carried& c) const {
  auto& latest = c.latest;
  while (latest.first_slice + latest.slices.size() < end) {
    auto slice = std::make_shared<slice_rows>();
    slice->samples.resize(c.volume->header().slice_samples());
    c.volume->read(std::span(slice->samples));
    classify(*slice, grid_, options_.values);
    latest.slices.push_back(std::move(slice));
    ++latest.slices_read;
  }
}

void modeler::advance(std::size_t layer, carried& c) const {
  auto& latest = c.latest;
  auto const [first, end] = grid_.slices(layer);
  while (latest.first_slice < first) latest.slices.erase(latest.slices.begin()), ++latest.first_slice;
  read_slices(end, c);
  latest.holes_below = std::move(latest.holes);
  latest.number = layer;
  latest.holes = find_holes(grid_, latest, options_.order);
}

modeler::packet modeler::cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
  layer_packet p;
  p.layer = from;
  p.first_piece = static_cast<std::size_t>(first);
  auto const begin = grid_.rows(p.first_piece).first;
  auto const end = grid_.rows(p.first_piece + static_cast<std::size_t>(count) - 1).end;
  p.nodes = {begin, end + 1};
  p.samples = grid_.sample_rows(p.nodes);
  p.cells = {begin - std::min<std::size_t>(begin, 1), std::min(end + 1, grid_.axis(1).cells())};
  p.lengths = {grid_.axis(0).samples, grid_.axis(0).at.size(), grid_.axis(0).cells()};
  return p;
}

modeler::result modeler::process(packet const& p, std::size_t i) const {
  layer_view const view(grid_, p.layer);
  auto const rows = grid_.rows(p.first_piece + i);
  auto m = options_.order == 1 ? extract_trilinear(grid_, options_.values, view, rows)
                               : extract_tricubic(grid_, options_, view, rows);
  if (p.first_piece + i == 0) m.counts.slices_read = p.layer.slices_read;
  return m;
}

}  // namespace isosurface

namespace {

using isosurface::layer_packet;
using isosurface::range;

template <class T>
void pack_rows(std::vector<T> const& all, std::size_t first_row, range rows, std::size_t length,
               std::vector<std::byte>& out) {
  skel::bytes::put_varint(out, all.empty() ? 0 : (rows.end - rows.first) * length);
  if (all.empty()) return;
  auto const bytes = std::as_bytes(
      std::span(all).subspan((rows.first - first_row) * length, (rows.end - rows.first) * length));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void pack_holes(isosurface::hole_rows const* holes, layer_packet const& p, std::vector<std::byte>& out) {
  skel::pack(holes != nullptr, out);
  if (holes != nullptr) pack_rows(holes->cells, holes->first_row, p.cells, p.lengths[2], out);
}

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
};

}  // namespace

void skel::transfer_traits<layer_packet>::pack(layer_packet const& p, std::vector<std::byte>& out) {
  auto const& l = p.layer;
  skel::pack(packet_head{l.number, l.first_slice, l.slices.size(), l.slices_read, p.first_piece, p.samples,
                         p.nodes, p.cells, p.lengths},
             out);
  for (std::size_t s = 0; s < l.slices.size(); ++s) {
    auto const& slice = *l.slices[s];
    auto const z = l.first_slice + s;
    pack_rows(slice.samples, slice.first_row, p.samples, p.lengths[0], out);
    if (z == l.number || z == l.number + 1)
      pack_rows(slice.classes, slice.first_node_row, p.nodes, p.lengths[1], out);
  }
  pack_holes(l.holes.get(), p, out);
  pack_holes(l.holes_below.get(), p, out);
}

std::size_t skel::transfer_traits<layer_packet>::size(layer_packet const& p) {
  auto const rows = [](range r, std::size_t length, std::size_t bytes) {
    return skel::bytes::most_varint + (r.end - r.first) * length * bytes;
  };
  return sizeof(packet_head) + p.layer.slices.size() * rows(p.samples, p.lengths[0], sizeof(float)) +
         2 * rows(p.nodes, p.lengths[1], 1) + (p.layer.holes ? 1 : 0) * rows(p.cells, p.lengths[2], 1) +
         (p.layer.holes_below ? 1 : 0) * rows(p.cells, p.lengths[2], 1) + 2 * sizeof(bool);
}

layer_packet skel::transfer_traits<layer_packet>::unpack(std::span<std::byte const>& in) {
  auto const head = skel::unpack<packet_head>(in);
  layer_packet p;
  p.first_piece = head.first_piece;
  p.samples = head.samples, p.nodes = head.nodes, p.cells = head.cells, p.lengths = head.lengths;
  p.layer.number = head.number, p.layer.first_slice = head.first_slice,
  p.layer.slices_read = head.slices_read;
  for (std::size_t s = 0; s < head.slices; ++s) {
    auto slice = std::make_shared<isosurface::slice_rows>();
    slice->first_row = p.samples.first, slice->first_node_row = p.nodes.first;
    slice->samples = skel::unpack<std::vector<float>>(in);
    auto const z = head.first_slice + s;
    if (z == head.number || z == head.number + 1)
      slice->classes = skel::unpack<std::vector<std::uint8_t>>(in);
    p.layer.slices.push_back(std::move(slice));
  }
  p.layer.holes = unpack_holes(p, in);
  p.layer.holes_below = unpack_holes(p, in);
  return p;
}
