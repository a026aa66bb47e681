#include "needed_samples.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "active_cells.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace isosurface {

namespace {

/// Appends runs of needed samples: how many are left out, how many follow, and these.
void pack_runs(std::uint8_t const* needed, float const* samples, std::size_t n, std::vector<std::byte>& out) {
  for (std::size_t at = 0; at < n;) {
    auto const first = static_cast<std::size_t>(std::find(needed + at, needed + n, 1) - needed);
    auto const end = static_cast<std::size_t>(std::find(needed + first, needed + n, 0) - needed);
    skel::bytes::put_varint(out, first - at);
    skel::bytes::put_varint(out, end - first);
    skel::bytes::put_bytes(out, samples + first, (end - first) * sizeof(float));
    at = end;
  }
}

}  // namespace

needed_samples::needed_samples(node_grid const& grid, layer_view const& layer, range nodes, range samples)
    : length_(grid.axis(0).samples),
      nodes_(grid.axis(0).at.size()),
      first_row_(samples.first),
      first_node_row_(nodes.first),
      rows_((samples.end - samples.first) * length_),
      node_rows_((nodes.end - nodes.first) * nodes_) {
  active_finder active(grid.axis(0).cells());
  for (auto row = nodes.first; row + 1 < nodes.end; ++row)
    active.find(layer, row, [&](std::size_t x) {
      for (std::size_t i = 0; i < 4; ++i) mark(grid, x + i % 2, row + i / 2);
    });
}

void needed_samples::mark(node_grid const& grid, std::size_t node, std::size_t row) {
  auto const &xs = grid.axis(0), &ys = grid.axis(1);
  auto& known = node_rows_[(row - first_node_row_) * nodes_ + node];
  if (known != 0) return;
  known = 1;
  auto const at = [this](std::size_t y, std::size_t x) -> auto& {
    return rows_[(y - first_row_) * length_ + x];
  };
  at(ys.sample[row], xs.sample[node]) = 1;
  for (auto x = xs.slope[node].first; x < xs.slope[node].end(); ++x) at(ys.sample[row], x) = 1;
  for (auto y = ys.slope[row].first; y < ys.slope[row].end(); ++y) at(y, xs.sample[node]) = 1;
}

void needed_samples::pack_row(std::size_t row, float const* samples, std::vector<std::byte>& out) const {
  pack_runs(rows_.data() + (row - first_row_) * length_, samples, length_, out);
}

void needed_samples::pack_node_row(std::size_t node_row, float const* samples,
                                   std::vector<std::byte>& out) const {
  pack_runs(node_rows_.data() + (node_row - first_node_row_) * nodes_, samples, nodes_, out);
}

void needed_samples::unpack_row(std::span<std::byte const>& in, std::span<float> to) {
  while (!to.empty()) {
    auto const skipped = skel::bytes::get_varint(in);
    auto const count = skel::bytes::get_varint(in);
    if (skipped > to.size() || count > to.size() - skipped || (skipped == 0 && count == 0) ||
        count > in.size() / sizeof(float))
      throw skel::protocol_error("a packet of rows is damaged");
    to = to.subspan(skipped);
    std::memcpy(to.data(), in.data(), count * sizeof(float));
    in = in.subspan(count * sizeof(float));
    to = to.subspan(count);
  }
}

std::size_t needed_samples::most_bytes(std::size_t samples) {
  return samples * sizeof(float) + 2 * skel::bytes::most_varint;
}

}  // namespace isosurface
