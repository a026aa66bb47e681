#include "node_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "skel/error.hpp"

namespace isosurface {

namespace {

constexpr std::size_t cells_per_piece = 4096;

node_axis make_axis(std::vector<double> const& coordinates, std::size_t step, difference_rule rule) {
  node_axis axis;
  axis.samples = coordinates.size();
  axis.sample_at = coordinates;
  for (std::size_t i = 0; i < coordinates.size(); i += step) {
    axis.sample.push_back(i);
    axis.at.push_back(coordinates[i]);
    axis.slope.push_back(coordinates.size() < 2 ? stencil{} : difference(coordinates, i, rule));
  }
  return axis;
}

range samples_of(node_axis const& axis, range nodes) {
  range all{axis.samples, 0};
  for (auto n = nodes.first; n < nodes.end; ++n) {
    all.first = std::min({all.first, axis.slope[n].first, axis.sample[n]});
    all.end = std::max({all.end, axis.slope[n].end(), axis.sample[n] + 1});
  }
  return all;
}

}  // namespace

node_grid::node_grid(volume_data::volume_header const& header, surface_options const& options) {
  for (std::size_t a = 0; a < 3; ++a) {
    axes_[a] = make_axis(header.coordinates[a], a < 2 ? options.step : 1, options.rule);
    if (axes_[a].at.size() < 2)
      throw skel::usage_error(fmt::format(
          "{}: {} samples along {}, expected enough for a cell{}", header.name, header.size[a], "xyz"[a],
          a < 2 && options.step > 1 ? " of --grid " + std::to_string(options.step) : ""));
  }
  rows_per_piece_ = options.rows_per_piece > 0 ? options.rows_per_piece
                                               : std::max<std::size_t>(1, cells_per_piece / axes_[0].cells());
  layers_apart_ = options.layers_apart;
  may_have_holes_ =
      header.type == volume_data::scalar_type::float32 || header.type == volume_data::scalar_type::float64;
}

std::size_t node_grid::pieces() const { return (axes_[1].cells() + rows_per_piece_ - 1) / rows_per_piece_; }

range node_grid::rows(std::size_t piece) const {
  auto const first = piece * rows_per_piece_;
  return {first, std::min(first + rows_per_piece_, axes_[1].cells())};
}

range node_grid::slices(std::size_t layer) const { return samples_of(axes_[2], {layer, layer + 2}); }
range node_grid::sample_rows(range nodes) const { return samples_of(axes_[1], nodes); }

}  // namespace isosurface
