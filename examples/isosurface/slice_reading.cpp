#include "slice_reading.hpp"

#include <algorithm>
#include <cmath>

namespace isosurface {

namespace {

slice_rows& make_room(held_slice& held, node_grid const& grid, slice_reading::part what) {
  auto const &xs = grid.axis(0), &ys = grid.axis(1);
  auto const nodes = xs.at.size() * ys.at.size();
  auto rows = std::make_shared<slice_rows>();
  rows->only_nodes = what != slice_reading::part::full;
  rows->samples.resize(rows->only_nodes ? nodes : xs.samples * ys.samples);
  if (!rows->only_nodes) rows->classes.resize(nodes);
  if (what == slice_reading::part::nodes_and_their_rows) held.node_rows.resize(xs.samples * ys.at.size());
  return *((rows->only_nodes ? held.nodes : held.full) = std::move(rows));
}

}  // namespace

slice_reading::slice_reading(node_grid const& grid, surface_options const& options, std::size_t slice,
                             part what, held_slice& to)
    : grid_(grid),
      order_(options.order),
      slice_(slice),
      held_(to),
      to_(make_room(to, grid, what)),
      classifier_(grid, options.values),
      bad_rows_(grid.may_have_holes() ? grid.axis(1).samples : 0) {}

void slice_reading::read_to(std::size_t end_node, volume_data::volume_reader& volume) {
  if (!to_.only_nodes && next_node_ < end_node)
    read_samples(grid_.sample_rows({next_node_, end_node}).end, volume);
  for (; next_node_ < end_node; ++next_node_) {
    if (to_.only_nodes)
      read_node_row(next_node_, volume);
    else
      classifier_.classify(to_, next_node_);
    if (grid_.may_have_holes()) mark_bad(next_node_);
  }
}

/// Rows that are here already, because nodes lie in them, are copied.
void slice_reading::read_samples(std::size_t end, volume_data::volume_reader& volume) {
  auto const length = grid_.axis(0).samples, step = grid_.axis(1).sample[1];
  auto const to = [&](std::size_t count) {
    return std::span(to_.samples).subspan(next_ * length, count * length);
  };
  for (auto const begin = next_; next_ < end;) {
    if (held_.node_rows.empty()) {
      volume.read_rows(next_, to(end - next_));
      next_ = end;
    } else if (auto const node = next_ / step; next_ % step == 0 && node < grid_.axis(1).at.size()) {
      std::ranges::copy(std::span(held_.node_rows).subspan(node * length, length), to(1).begin());
      ++next_;
    } else {
      auto const stop = std::min(end, (next_ / step + 1) * step);
      volume.read_rows(next_, to(stop - next_));
      next_ = stop;
    }
    if (next_ == end) check(begin, end);
  }
}

void slice_reading::read_node_row(std::size_t node_row, volume_data::volume_reader& volume) {
  auto const &xs = grid_.axis(0), &ys = grid_.axis(1);
  auto const row = ys.sample[node_row], step = xs.sample[1];
  auto const to = std::span(to_.samples).subspan(node_row * xs.at.size(), xs.at.size());
  if (held_.node_rows.empty()) {
    volume.read_samples(row, step, to);
  } else {
    auto const all = std::span(held_.node_rows).subspan(node_row * xs.samples, xs.samples);
    volume.read_rows(row, all);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = all[i * step];
  }
  if (grid_.may_have_holes()) bad_rows_[row] = all_finite(to) ? 0 : 1;
}

void slice_reading::check(std::size_t first, std::size_t end) {
  auto const length = grid_.axis(0).samples;
  for (auto row = first; row < end && grid_.may_have_holes(); ++row)
    bad_rows_[row] = all_finite(std::span(to_.samples).subspan(row * length, length)) ? 0 : 1;
}

/// Marks the nodes of a row that depend on a sample that is not finite: at order 1 on their own, at
/// order 3 on all in the differences.
void slice_reading::mark_bad(std::size_t node_row) {
  auto const &xs = grid_.axis(0), &ys = grid_.axis(1);
  auto const around = [this](node_axis const& a, std::size_t n) {
    auto const s = a.sample[n];
    return order_ == 1 ? range{s, s + 1}
                       : range{std::min(s, a.slope[n].first), std::max(s + 1, a.slope[n].end())};
  };
  auto const rows = around(ys, node_row);
  for (auto y = rows.first; y < rows.end; ++y) {
    if (bad_rows_[y] == 0) continue;
    held_.bad.resize(xs.at.size() * ys.at.size());
    auto const* const samples =
        to_.samples.data() + (to_.only_nodes ? node_row * xs.at.size() : y * xs.samples);
    for (std::size_t i = 0; i < xs.at.size(); ++i) {
      auto const columns = to_.only_nodes ? range{i, i + 1} : around(xs, i);
      if (!all_finite({samples + columns.first, columns.end - columns.first}))
        held_.bad[node_row * xs.at.size() + i] = 1;
    }
  }
}

}  // namespace isosurface
