#include "node_slopes.hpp"

#include <cmath>

namespace isosurface {

namespace {

template <class Sample>
double weighted(stencil const& s, Sample const& sample) {
  auto const& w = s.weights;
  if (s.count == 3) return w[0] * double{sample(0)} + w[1] * double{sample(1)} + w[2] * double{sample(2)};
  double sum = 0;
  for (std::size_t i = 0; i < s.count; ++i) sum += w[i] * double{sample(i)};
  return sum;
}

/// The difference between a finite sample and a finite neighbour.
template <class Sample>
double one_sided(node_axis const& axis, std::size_t node, Sample const& sample) {
  auto const own = axis.sample[node];
  auto const& at = axis.sample_at;
  double const f = sample(own);
  auto const is_there = [&](std::size_t i) {
    return i >= axis.slope[node].first && i < axis.slope[node].end() && std::isfinite(sample(i));
  };
  if (is_there(own + 1)) return (double{sample(own + 1)} - f) / (at[own + 1] - at[own]);
  if (own > 0 && is_there(own - 1)) return (f - double{sample(own - 1)}) / (at[own] - at[own - 1]);
  return 0;
}

template <class Sample>
double careful(node_axis const& axis, std::size_t node, Sample const& sample) {
  auto const& s = axis.slope[node];
  double const d = weighted(s, [&](std::size_t i) { return sample(s.first + i); });
  return std::isfinite(d) ? d : one_sided(axis, node, sample);
}

}  // namespace

point normalized(vector3 const& v) {
  constexpr double least = 1e-30, most = 1e30;  // squares of numbers in between fit a float
  auto u = v;
  double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  if (!(square > least && square < most)) {
    double const length = std::hypot(v[0], v[1], v[2]);
    if (!(length > 0) || !std::isfinite(length)) return {};
    for (auto& x : u) x /= length;
    square = 1;
  }
  auto const scale = 1 / std::sqrt(static_cast<float>(square));
  return {static_cast<float>(u[0]) * scale, static_cast<float>(u[1]) * scale,
          static_cast<float>(u[2]) * scale};
}

node_slopes::node_slopes(node_grid const& grid, layer_view const& layer)
    : grid_(grid), layer_(layer), first_row_(layer.first_row()) {
  for (std::size_t i = 0; i < 2; ++i) {
    auto const z = layer.number() + i;
    auto const& s = grid.axis(2).slope[z];
    planes_[i].own = layer.samples(z, first_row_);
    for (std::size_t k = 0; k < s.count; ++k) {
      auto const& slice = layer.at(s.first + k);
      auto const &xs = grid.axis(0), &ys = grid.axis(1);
      auto const length = slice.only_nodes ? xs.at.size() : xs.samples;
      planes_[i].around[k] = {slice.samples.data(), slice.first_row * length,
                              (slice.only_nodes ? 1 : ys.sample[1]) * length,
                              slice.only_nodes ? 1 : xs.sample[1]};
    }
  }
}

vector3 node_slopes::slope(std::array<std::size_t, 3> const& node) const {
  auto const &xs = grid_.axis(0), &ys = grid_.axis(1), &zs = grid_.axis(2);
  auto const x = xs.sample[node[0]], row = (ys.sample[node[1]] - first_row_) * xs.samples;
  auto const &sx = xs.slope[node[0]], &sy = ys.slope[node[1]], &sz = zs.slope[node[2]];
  auto const& p = planes_[node[2] - layer_.number()];
  auto const* const along_x = p.own + row + sx.first;
  auto const* const along_y = p.own + (sy.first - first_row_) * xs.samples + x;
  vector3 const g{weighted(sx, [&](std::size_t i) { return along_x[i]; }),
                  weighted(sy, [&](std::size_t i) { return along_y[i * xs.samples]; }),
                  weighted(sz, [&](std::size_t i) {
                    auto const& n = p.around[i];
                    return n.samples[node[1] * n.per_row + node[0] * n.per_node - n.first];
                  })};
  return std::isfinite(g[0] + g[1] + g[2]) ? g : careful_slope(node);
}

vector3 node_slopes::careful_slope(std::array<std::size_t, 3> const& node) const {
  auto const x = grid_.axis(0).sample[node[0]], y = grid_.axis(1).sample[node[1]],
             z = grid_.axis(2).sample[node[2]];
  return {careful(grid_.axis(0), node[0], [&](std::size_t i) { return layer_.samples(z, y)[i]; }),
          careful(grid_.axis(1), node[1], [&](std::size_t i) { return layer_.samples(z, i)[x]; }),
          careful(grid_.axis(2), node[2],
                  [&](std::size_t i) { return layer_.node_sample(i, node[0], node[1]); })};
}

}  // namespace isosurface
