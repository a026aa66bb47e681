#include "job.hpp"

#include <algorithm>

#include "tricubic.hpp"
#include "trilinear.hpp"

namespace isosurface {

std::uint64_t modeler::read(std::uint64_t number, carried& c, unit& into,
                            skel::pieces_ready const& ready) const {
  c.read(grid_, options_, open_, static_cast<std::size_t>(number), into, ready);
  return grid_.pieces();
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
  p.near_surfaces = options_.order == 1;
  p.grid = &grid_;
  // Most packets have no holes. Rows behind those of the packet may still be read.
  auto const none_in = [](std::shared_ptr<hole_rows const> const& holes, range rows) {
    return !holes || std::all_of(holes->in_row.begin() + static_cast<std::ptrdiff_t>(rows.first),
                                 holes->in_row.begin() + static_cast<std::ptrdiff_t>(rows.end),
                                 [](auto has) { return has == 0; });
  };
  if (none_in(from.holes, own_cells(p))) p.layer.holes = nullptr;
  if (none_in(from.holes_below, p.cells)) p.layer.holes_below = nullptr;
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
