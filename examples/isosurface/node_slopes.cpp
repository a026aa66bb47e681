#include "node_slopes.hpp"

#include <bit>
#include <cmath>
#include <cstring>

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

/// The row of some nodes and, with the samples around them, along y and z.
struct three_rows {
  float const* own;
  std::array<float const*, 3> along_y, along_z;
};

struct slope_arguments {
  three_rows rows;
  std::array<double const*, 3> along_x;
  double const *along_y, *along_z;
  std::array<double*, 3> to;
};

// Processors without registers of this size use several.
using double4 [[gnu::vector_size(32)]] = double;
using float4 [[gnu::vector_size(16)]] = float;
using integer4 [[gnu::vector_size(32)]] = std::uint64_t;
constexpr std::size_t lanes = 4;

// Vectors are passed by reference: by value they would need registers that not every processor has.
[[gnu::always_inline]] inline void load(double const* from, double4& to) {
  std::memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline void load(float const* from, double4& to) {
  float4 v;
  std::memcpy(&v, from, sizeof v);
  to = __builtin_convertvector(v, double4);
}
/// The sum of three numbers or rows of them times samples.
template <class Weight>
[[gnu::always_inline]] inline void weigh(Weight const& a, Weight const& b, Weight const& c,
                                         std::array<float const*, 3> const& samples, double4& to) {
  double4 f, g, h;
  load(samples[0], f);
  load(samples[1], g);
  load(samples[2], h);
  to = a * f + b * g + c * h;
}

/// Slopes by three samples along each axis, those along x with weights of their own, of a multiple of four
/// nodes. Returns whether all are finite.
[[gnu::always_inline]] inline bool slopes_by(slope_arguments const& of, std::size_t first, std::size_t n) {
  auto const* const own = of.rows.own;
  auto const [y0, y1, y2] = of.rows.along_y;
  auto const [z0, z1, z2] = of.rows.along_z;
  double const v0 = of.along_y[0], v1 = of.along_y[1], v2 = of.along_y[2];
  double const w0 = of.along_z[0], w1 = of.along_z[1], w2 = of.along_z[2];
  integer4 bad{};
  for (auto i = first; i < first + n; i += lanes) {
    double4 u0, u1, u2, x, y, z;
    load(of.along_x[0] + i, u0);
    load(of.along_x[1] + i, u1);
    load(of.along_x[2] + i, u2);
    weigh(u0, u1, u2, {own + i - 1, own + i, own + i + 1}, x);
    weigh(v0, v1, v2, {y0 + i, y1 + i, y2 + i}, y);
    weigh(w0, w1, w2, {z0 + i, z1 + i, z2 + i}, z);
    std::memcpy(of.to[0] + i, &x, sizeof x);
    std::memcpy(of.to[1] + i, &y, sizeof y);
    std::memcpy(of.to[2] + i, &z, sizeof z);
    double4 const zero = (x + y + z) * 0.0;  // or a NaN
    integer4 bits;
    std::memcpy(&bits, &zero, sizeof bits);
    bad |= bits << 1;  // without the sign
  }
  return (bad[0] | bad[1] | bad[2] | bad[3]) == 0;
}

bool slopes_portable(slope_arguments const& of, std::size_t first, std::size_t n) {
  return slopes_by(of, first, n);
}
#ifdef __x86_64__
[[gnu::target("avx2")]] bool slopes_avx2(slope_arguments const& of, std::size_t first, std::size_t n) {
  return slopes_by(of, first, n);
}
#endif
auto find_slopes() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return slopes_avx2;
#endif
  return slopes_portable;
}
auto* const centred_slopes = find_slopes();

}  // namespace

point carefully_normalized(vector3 const& v) {
  double const length = std::hypot(v[0], v[1], v[2]);
  if (!(length > 0) || !std::isfinite(length)) return {};
  return {static_cast<float>(v[0] / length), static_cast<float>(v[1] / length),
          static_cast<float>(v[2] / length)};
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
  auto const& xs = grid.axis(0);
  if (xs.sample[1] != 1 || xs.at.size() < 3 || xs.slope[1].count != 3) return;
  centred_ = {1, xs.at.size() - 1};
  for (std::size_t i = 0; i < 3; ++i)
    for (auto const& s : xs.slope) weights_[i].push_back(s.weights[i]);
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

void node_slopes::find(range blocks, std::size_t row, std::size_t slice, slope_row& to) const {
  auto const known = [&](std::size_t block) { return to.known[block] != 0; };
  for (auto at = blocks.first; at < blocks.end; ++at) {
    if (known(at)) continue;
    auto const first = at;
    for (; at < blocks.end && !known(at); ++at) to.known[at] = 1;
    find_nodes({first * slope_row::block, std::min(at * slope_row::block, to.along[0].size())}, row, slice,
               to);
  }
}

void node_slopes::find_nodes(range nodes, std::size_t row, std::size_t slice, slope_row& to) const {
  auto const &sy = grid_.axis(1).slope[row], &sz = grid_.axis(2).slope[slice];
  range centred{std::max(nodes.first, centred_.first), std::min(nodes.end, centred_.end)};
  if (sy.count != 3 || sz.count != 3 || centred.first > centred.end) centred = {nodes.end, nodes.end};
  auto const by_itself = [&](std::size_t x) {
    auto const g = slope({x, row, slice});
    for (std::size_t a = 0; a < 3; ++a) to.along[a][x] = g[a];
  };
  for (auto x = nodes.first; x < centred.first; ++x) by_itself(x);
  for (auto x = centred.end; x < nodes.end; ++x) by_itself(x);
  if (centred.first == centred.end) return;

  auto const& p = planes_[slice - layer_.number()];
  auto const per_row = grid_.axis(0).samples;
  slope_arguments of{{p.own + (grid_.axis(1).sample[row] - first_row_) * per_row, {}, {}},
                     {weights_[0].data(), weights_[1].data(), weights_[2].data()},
                     sy.weights.data(),
                     sz.weights.data(),
                     {to.along[0].data(), to.along[1].data(), to.along[2].data()}};
  for (std::size_t i = 0; i < 3; ++i) {
    of.rows.along_y[i] = p.own + (sy.first + i - first_row_) * per_row;
    of.rows.along_z[i] = p.around[i].samples + row * p.around[i].per_row - p.around[i].first;
  }
  auto const first = centred.first, n = centred.end - first;
  if (n < lanes) {
    for (auto x = first; x < centred.end; ++x) by_itself(x);
    return;
  }
  bool finite = centred_slopes(of, first, n / lanes * lanes);
  if (n % lanes != 0) finite = centred_slopes(of, centred.end - lanes, lanes) && finite;  // some twice
  if (finite) return;
  for (auto x = first; x < first + n; ++x)
    if (!std::isfinite(to.along[0][x] + to.along[1][x] + to.along[2][x])) by_itself(x);
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
