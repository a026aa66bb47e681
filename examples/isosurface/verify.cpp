#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "program/failure.hpp"

namespace isosurface {

namespace {

/// A number and its derivative.
struct dual {
  double value = 0, slope = 0;

  friend dual operator+(dual a, dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend dual operator-(dual a, dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend dual operator*(dual a, dual b) { return {a.value * b.value, a.value * b.slope + a.slope * b.value}; }
  friend dual operator*(double a, dual b) { return {a * b.value, a * b.slope}; }
};

/// The weight of a sample at one place, and its derivative.
struct weight {
  std::size_t sample;
  dual of;
};
struct weights : std::vector<weight> {
  void add(std::size_t sample, dual w) {
    auto const known = std::ranges::find(*this, sample, &weight::sample);
    if (known == end())
      push_back({sample, w});
    else
      known->of = known->of + w;
  }
};

/// One-dimensional interpolation at x: a straight line, or Hermite's cubic between two nodes with
/// the slopes of polynomials through the samples around each (Neville's scheme).
class axis_interpolation {
 public:
  axis_interpolation(std::vector<double> const& at, std::size_t step, surface_options const& options)
      : at_(at), step_(step), options_(options) {}

  [[nodiscard]] weights operator()(double x) const {
    auto const last_cell = (at_.size() - 1) / step_ - 1;
    std::size_t cell = 0;
    while (cell < last_cell && x >= at_[(cell + 1) * step_]) ++cell;
    auto const a = cell * step_, b = a + step_;
    double const h = at_[b] - at_[a];
    dual const t{(x - at_[a]) / h, 1 / h}, one{1, 0}, s = one - t;
    weights w;
    if (options_.order == 1) {
      w.add(a, s);
      w.add(b, t);
      return w;
    }
    w.add(a, s * s * (one + 2 * t));
    w.add(b, t * t * (one + 2 * s));
    add_slope(w, a, h * (s * s * t));
    add_slope(w, b, -h * (t * t * s));
    return w;
  }

 private:
  void add_slope(weights& w, std::size_t node, dual factor) const {
    bool const end = node == 0 || node + 1 == at_.size();
    std::size_t count = options_.rule == difference_rule::fourth ? 5 : 3;
    if (options_.rule == difference_rule::paper && end) count = 2;
    count = std::min(count, at_.size());
    auto const first =
        std::min(node - std::min(node, end && count == 2 && node == 0 ? 0 : count / 2), at_.size() - count);
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<dual> p(count);
      p[j] = {1, 0};
      for (std::size_t m = 1; m < count; ++m)
        for (std::size_t i = 0; i + m < count; ++i) {
          double const left = at_[first + i], right = at_[first + i + m], x = at_[node];
          p[i] = (1 / (right - left)) * (dual{right - x, -1} * p[i] + dual{x - left, 1} * p[i + 1]);
        }
      w.add(first + j, p[0].slope * factor);
    }
  }

  std::vector<double> const& at_;
  std::size_t step_;
  surface_options const& options_;
};

struct field_at {
  double value = 0;
  std::array<double, 3> gradient{};
};

class field {
 public:
  field(volume_data::grid const& volume, surface_options const& options)
      : size_(volume.header.size), samples_(volume.floats()) {
    for (std::size_t a = 0; a < 3; ++a)
      along_.emplace_back(volume.header.coordinates[a], a < 2 ? options.step : 1, options);
  }

  [[nodiscard]] field_at operator()(point const& p) const {
    auto const x = along_[0](p[0]), y = along_[1](p[1]), z = along_[2](p[2]);
    field_at f;
    for (auto const& [k, wz] : z)
      for (auto const& [j, wy] : y)
        for (auto const& [i, wx] : x) {
          double const s = sample(i, j, k);
          if (!std::isfinite(s)) continue;  // belongs to a neighbouring cell and has no weight
          f.value += wx.value * wy.value * wz.value * s;
          f.gradient[0] += wx.slope * wy.value * wz.value * s;
          f.gradient[1] += wx.value * wy.slope * wz.value * s;
          f.gradient[2] += wx.value * wy.value * wz.slope * s;
        }
    return f;
  }
  /// The greatest absolute value of all finite samples.
  [[nodiscard]] double greatest() const {
    double most = 0;
    for (float const s : samples_)
      if (std::isfinite(s)) most = std::max(most, std::abs(double{s}));
    return most;
  }
  [[nodiscard]] double sample(std::size_t x, std::size_t y, std::size_t z) const {
    return samples_[x + size_[0] * (y + size_[1] * z)];
  }

 private:
  std::array<std::size_t, 3> size_;
  std::vector<float> samples_;
  std::vector<axis_interpolation> along_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw skel::program::verification_error("verification failed: " +
                                          fmt::format(text, std::forward<Args>(args)...));
}

/// Allows for the rounding of vertices to floats, and for the tolerance.
void check_vertices(field const& f, volume_data::grid const& volume, surface_options const& options,
                    mesh const& m) {
  double far = 0;
  for (auto const& at : volume.header.coordinates)
    far = std::max({far, std::abs(at.front()), std::abs(at.back())});
  double const step = 1.2e-7 * far, little = 1e-9 * f.greatest(), flat = 1e-3 * f.greatest() / far;
  auto const moved = [&](std::array<double, 3> const& g) {
    return 2 * options.tolerance * (std::hypot(g[0], g[1], g[2]) + flat);
  };
  for (auto const& part : m.parts)
    for (auto v = part.first_vertex; v < part.end_vertex; ++v) {
      auto const &p = m.positions[v], &n = m.normals[v];
      auto const here = f(p);
      auto const& g = here.gradient;
      if (!(std::abs(here.value - part.value) <=
            step * (std::abs(g[0]) + std::abs(g[1]) + std::abs(g[2])) + little + moved(g)))
        fail("vertex ({}, {}, {}): the field is {}, expected {}", p[0], p[1], p[2], here.value, part.value);
      if (!(std::abs(std::hypot(n[0], n[1], n[2]) - 1) < 1e-5))
        fail("vertex ({}, {}, {}): the length of the normal must be 1", p[0], p[1], p[2]);
      double const steep = std::hypot(g[0], g[1], g[2]);
      if (options.order == 3 && steep > flat && -(n[0] * g[0] + n[1] * g[1] + n[2] * g[2]) < 0.999 * steep)
        fail("vertex ({}, {}, {}): the normal must be opposite to the gradient", p[0], p[1], p[2]);
    }
}

using edge = std::pair<std::uint32_t, std::uint32_t>;

void check_edges(volume_data::grid const& volume, surface_options const& options, modeled const& result) {
  auto const& m = result.surfaces;
  std::vector<edge> edges;
  edges.reserve(3 * m.triangles.size());
  for (auto const& t : m.triangles)
    for (std::size_t i = 0; i < 3; ++i) edges.emplace_back(t[i], t[(i + 1) % 3]);
  std::ranges::sort(edges);
  if (auto const twice = std::ranges::adjacent_find(edges); twice != edges.end())
    fail("the edge from vertex {} to {} has two triangles on one side", twice->first, twice->second);
  std::array<std::array<float, 2>, 3> box{};
  for (std::size_t a = 0; a < 3; ++a) {
    auto const& at = volume.header.coordinates[a];
    auto const step = a < 2 ? options.step : 1;
    box[a] = {static_cast<float>(at.front()), static_cast<float>(at[(at.size() - 1) / step * step])};
  }
  auto const on_box = [&](edge const& e) {
    for (std::size_t a = 0; a < 3; ++a)
      for (float const side : box[a])
        if (m.positions[e.first][a] == side && m.positions[e.second][a] == side) return true;
    return false;
  };
  if (result.counts.holes > 0) return;
  for (auto const& e : edges)
    if (!std::ranges::binary_search(edges, edge{e.second, e.first}) && !on_box(e))
      fail("the edge from vertex {} to {} has one triangle", e.first, e.second);
}

/// Each edge between two nodes on different sides of a value must have a vertex, and no other edge.
void count_vertices(field const& f, volume_data::grid const& volume, surface_options const& options,
                    mesh const& m) {
  auto const& n = volume.header.size;
  std::array<std::size_t, 3> const step{options.step, options.step, 1};
  for (auto const& part : m.parts) {
    std::size_t cut = 0;
    for (std::size_t z = 0; z < n[2]; z += step[2])
      for (std::size_t y = 0; y < n[1]; y += step[1])
        for (std::size_t x = 0; x < n[0]; x += step[0]) {
          bool const above = f.sample(x, y, z) >= part.value;
          cut += x + step[0] < n[0] && (f.sample(x + step[0], y, z) >= part.value) != above ? 1 : 0;
          cut += y + step[1] < n[1] && (f.sample(x, y + step[1], z) >= part.value) != above ? 1 : 0;
          cut += z + step[2] < n[2] && (f.sample(x, y, z + step[2]) >= part.value) != above ? 1 : 0;
        }
    if (cut != part.end_vertex - part.first_vertex)
      fail("value {}: {} edges are cut, found {} vertices", part.value, cut,
           part.end_vertex - part.first_vertex);
  }
}

}  // namespace

void verify(volume_data::grid const& volume, surface_options const& options, modeled const& result) {
  field const f(volume, options);
  check_vertices(f, volume, options, result.surfaces);
  check_edges(volume, options, result);
  if (options.order == 1 && result.counts.holes == 0) count_vertices(f, volume, options, result.surfaces);
}

}  // namespace isosurface
