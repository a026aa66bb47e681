#include "slice_stack.hpp"

#include <algorithm>
#include <utility>

namespace isosurface {

namespace {

std::shared_ptr<hole_rows> no_holes(node_grid const& grid) {
  auto holes = std::make_shared<hole_rows>();
  holes->in_row.resize(grid.axis(1).cells());
  holes->cells.resize(grid.axis(0).cells() * grid.axis(1).cells());
  return holes;
}

}  // namespace

void slice_stack::read(node_grid const& grid, surface_options const& options, open_function const& open,
                       std::size_t layer, layer_rows& into, skel::pieces_ready const& ready) {
  bool const fresh = held_.empty();
  if (fresh) {
    readers_.push_back(open());
    rows_freely_ = readers_.front()->reads_rows_freely();
  }
  // The holes of the layer below determine the vertices of the first one.
  bool const below = fresh && grid.joined_below(layer) && grid.may_have_holes();
  auto const slices = grid.slices(layer);
  auto const slices_of_holes = [&](std::size_t n) {
    return options.order == 1 ? range{n, n + 2} : grid.slices(n);
  };
  keep({below ? std::min(slices_of_holes(layer - 1).first, slices.first) : slices.first, slices.end});

  into = {layer, slices.first, {}, nullptr, grid.joined_below(layer) ? holes_ : nullptr, 0};
  auto readings = plan(grid, options, fresh, into);
  std::shared_ptr<hole_rows> holes, holes_below;
  if (grid.may_have_holes()) into.holes = holes = no_holes(grid);
  if (below) into.holes_below = holes_below = no_holes(grid);

  auto const nodes = grid.axis(1).at.size();
  auto const one_by_one = rows_freely_ || readings.empty() ? 0 : readings.size() - 1;
  auto in_use = begin(readings, one_by_one, nodes, open);
  std::size_t rows = 0;
  for (std::size_t piece = 0; piece < grid.pieces(); ++piece) {
    // Holes below count in the row behind the piece, too.
    auto const end_node = std::min(grid.rows(piece).end + (below ? 2 : 1), nodes);
    for (std::size_t i = 0; i < in_use.size(); ++i) readings[one_by_one + i].read_to(end_node, *in_use[i]);
    range const fresh_rows{std::exchange(rows, end_node - 1), end_node - 1};
    if (holes) add_holes(grid, slices_of_holes(layer), fresh_rows, *holes);
    if (holes_below) add_holes(grid, slices_of_holes(layer - 1), fresh_rows, *holes_below);
    if (piece + 1 < grid.pieces()) ready(piece + 1);
  }
  holes_ = holes;
  if (in_use.empty()) return;
  for (auto const& r : in_use) r->skip(1);
  readers_ = std::move(in_use);
}

void slice_stack::keep(range slices) {
  if (held_.empty()) first_ = slices.first;
  auto const dropped = static_cast<std::ptrdiff_t>(slices.first - first_);
  held_.erase(held_.begin(), held_.begin() + dropped);
  first_ = slices.first;
  held_.resize(slices.end - first_);
}

/// A share's first rows wait for all slices of its first layer, so of those beyond its own only the
/// samples at nodes are read, although a part of them is read again.
std::vector<slice_reading> slice_stack::plan(node_grid const& grid, surface_options const& options,
                                             bool fresh, layer_rows& into) {
  using part = slice_reading::part;
  bool const sparse = options.order == 1 && rows_freely_ && grid.axis(1).sample[1] > 1;
  std::vector<slice_reading> readings;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    auto& held = held_[i];
    auto const z = first_ + i;
    bool const full = !sparse || z == into.number || z == into.number + 1;
    if (!held.full && (full || !held.nodes)) {
      if (!held.nodes) ++into.slices_read;
      readings.emplace_back(grid, options, z,
                            full    ? part::full
                            : fresh ? part::nodes
                                    : part::nodes_and_their_rows,
                            held);
    }
    if (z >= into.first_slice) into.slices.push_back(held.full ? held.full : held.nodes);
  }
  return readings;
}

std::vector<slice_stack::reader> slice_stack::begin(std::span<slice_reading> readings, std::size_t one_by_one,
                                                    std::size_t nodes, open_function const& open) {
  for (auto& r : readings.first(one_by_one)) {
    readers_.push_back(reader_at(r.slice(), open));
    r.read_to(nodes, *readers_.back());
    readers_.back()->skip(1);
  }
  std::vector<reader> in_use;
  for (auto const& r : readings.subspan(one_by_one)) in_use.push_back(reader_at(r.slice(), open));
  return in_use;
}

/// The reader with the shortest way to a slice.
slice_stack::reader slice_stack::reader_at(std::size_t slice, open_function const& open) {
  auto best = readers_.end();
  for (auto r = readers_.begin(); r != readers_.end(); ++r)
    if ((*r)->position() <= slice && (best == readers_.end() || (*r)->position() > (*best)->position()))
      best = r;
  reader found;
  if (best == readers_.end()) {
    found = open();
  } else {
    found = std::move(*best);
    readers_.erase(best);
  }
  found->skip(slice - found->position());
  return found;
}

/// Order 1: cells with a corner that is not finite. Order 3: cells with such a sample in the
/// differences of a corner.
void slice_stack::add_holes(node_grid const& grid, range slices, range rows, hole_rows& to) const {
  auto const nodes = grid.axis(0).at.size(), cells = grid.axis(0).cells();
  for (auto z = slices.first; z < slices.end; ++z) {
    auto const& bad = held_[z - first_].bad;
    if (bad.empty()) continue;
    for (auto row = rows.first; row < rows.end; ++row)
      for (std::size_t x = 0; x < cells; ++x) {
        auto const at = row * nodes + x;
        if ((bad[at] | bad[at + 1] | bad[at + nodes] | bad[at + nodes + 1]) != 0)
          to.cells[row * cells + x] = to.in_row[row] = 1;
      }
  }
}

}  // namespace isosurface
