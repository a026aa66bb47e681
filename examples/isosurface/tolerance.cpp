#include "tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "skel/divide_and_conquer.hpp"
#include "tricubic_cells.hpp"

namespace isosurface {

namespace {

constexpr std::array<std::size_t, 3> strides{1, 4, 16};

/// The greatest absolute difference along b of the differences of neighbouring coefficients along
/// a.
double greatest_difference(tricubic const& cell, std::size_t a, std::size_t b) {
  double most = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    std::array<std::size_t, 3> at{i % 4, i / 4 % 4, i / 16};
    ++at[a], ++at[b];
    if (*std::ranges::max_element(at) > 3) continue;
    auto const* const p = &cell.b[i];
    auto const s = strides[a], t = strides[b];
    most = std::max(most, std::abs(p[s + t] - p[s] - p[t] + p[0]));
  }
  return most;
}

double deviation(tricubic const& cell, vector3 const& sides) {
  // Linear interpolation deviates by an eighth of the second derivatives. These are 6 times the
  // second differences, or 9 times the mixed ones, of which there are two each.
  double off = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a; b < 3; ++b) off += (a == b ? 6.0 : 18.0) / 8 * greatest_difference(cell, a, b);
  auto const g = cell.gradient({0.5, 0.5, 0.5});
  double const steep = std::hypot(g[0] / sides[0], g[1] / sides[1], g[2] / sides[2]);
  double const diagonal = std::hypot(sides[0], sides[1], sides[2]);
  return off < steep * diagonal ? off / steep : off > 0 ? diagonal : 0;
}

constexpr double stopped = std::numeric_limits<double>::quiet_NaN();

struct greatest_deviation {
  using problem = range;  // a range of layers
  using solution = double;

  skel::context const& ctx;
  node_grid const& grid;
  surface_options const& options;
  open_function const& open;

  [[nodiscard]] bool trivial(problem const& p) const { return p.end - p.first <= 1; }
  [[nodiscard]] solution conquer(problem const& p) const { return solve(p); }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.first + (p.end - p.first) / 2;
    return {range{p.first, middle}, range{middle, p.end}};
  }
  [[nodiscard]] solution combine(solution a, solution b) const {
    return std::isnan(a) || std::isnan(b) ? stopped : std::max(a, b);
  }
  [[nodiscard]] solution solve(problem const& p) const {
    modeler const reader(grid, options, open);
    modeler::carried carried;
    double most = 0;
    for (auto layer = p.first; layer < p.end; ++layer) {
      if (ctx.stop_requested()) return stopped;
      modeler::unit unit;
      auto const pieces = reader.read(layer, carried, unit);
      most = std::max(most, deviation(grid, options, layer_view(grid, reader.cut(unit, 0, pieces).layer)));
    }
    return most;
  }
};

}  // namespace

double deviation(node_grid const& grid, surface_options const& options, layer_view const& layer) {
  double most = 0;
  each_active_cell(grid, options.values, layer, {0, grid.axis(1).cells()},
                   [&](tricubic const& cell, hull const&, vector3 const& sides, std::size_t, std::size_t) {
                     most = std::max(most, deviation(cell, sides));
                   });
  return most;
}

wanted_level level_for(skel::context& ctx, open_function const& open, surface_options const& options,
                       double tolerance) {
  node_grid const grid(open()->header(), options);
  greatest_deviation const job{ctx, grid, options, open};
  auto const source = skel::on_root([&] { return range{0, grid.layers()}; });
  auto found = divide_and_conquer(ctx, source, job, skel::division::hypercube{}, {.label = "tolerance"});
  double left = found.value.here() ? *found.value : stopped;
  wanted_level wanted{0, std::move(found.report)};
  wanted.run.stopped_early = std::isnan(left);
  for (; left > tolerance && wanted.level < 60; left /= 4) ++wanted.level;
  return wanted;
}

wanted_level set_level(skel::context& ctx, open_function const& open, surface_options& options) {
  if (options.order != 3 || !(options.tolerance > 0)) return {options.level};
  auto wanted = level_for(ctx, open, options, options.tolerance);
  options.level = std::min(wanted.level, most_level);
  return wanted;
}

}  // namespace isosurface
