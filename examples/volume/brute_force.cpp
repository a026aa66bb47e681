#include "brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace volume {

namespace {

/// Returns the distances from the ray's origin at which it crosses the planes of each axis, and
/// those at which it enters and leaves the box.
std::vector<double> crossings(std::array<std::vector<double>, 3> const& where, camera::ray const& ray,
                              bool parallel) {
  double from = parallel ? -std::numeric_limits<double>::infinity() : 0;
  double to = std::numeric_limits<double>::infinity();
  std::vector<double> t;
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> own;
    for (auto const c : where[d]) {
      if (std::abs(ray.direction[d]) > 1e-14) own.push_back((c - ray.from[d]) / ray.direction[d]);
    }
    if (own.empty()) {
      if (ray.from[d] < where[d].front() || ray.from[d] > where[d].back()) return {};
      continue;
    }
    auto const [first, last] = std::ranges::minmax(own);
    from = std::max(from, first);
    to = std::min(to, last);
    t.insert(t.end(), own.begin(), own.end());
  }
  if (!(from < to)) return {};
  std::erase_if(t, [&](double x) { return x <= from || x >= to; });
  t.push_back(from);
  t.push_back(to);
  std::ranges::sort(t);
  return t;
}

template <class Knots, class Get>
auto mapped(Knots const& knots, double v, Get const& get) {
  if (v < knots.front().value) return get(knots.front());
  for (std::size_t i = 1; i < knots.size(); ++i)
    if (v < knots[i].value) {
      double const t = (v - knots[i - 1].value) / (knots[i].value - knots[i - 1].value);
      return get(knots[i - 1]) * (1 - t) + get(knots[i]) * t;
    }
  return get(knots.back());
}

struct sample {
  double value = 0;
  vec3 gradient{};
};

class sampler {
 public:
  sampler(volume_data::grid const& grid, specification const& spec) : grid_(grid) {
    for (std::size_t d = 0; d < 3; ++d)
      for (auto const c : grid.header.coordinates[d])
        where[d].push_back((c - grid.header.coordinates[d].front()) * spec.stretch[d]);
  }

  /// Samples one place; NaN if a corner of the cell is missing.
  [[nodiscard]] sample operator()(vec3 const& at, bool gradients) const {
    std::array<std::size_t, 3> low{};
    vec3 f{};
    for (std::size_t d = 0; d < 3; ++d) {
      auto const above =
          static_cast<std::size_t>(std::ranges::upper_bound(where[d], at[d]) - where[d].begin());
      low[d] = std::clamp<std::size_t>(above, 1, where[d].size() - 1) - 1;
      f[d] = (at[d] - where[d][low[d]]) / (where[d][low[d] + 1] - where[d][low[d]]);
    }
    sample s;
    for (std::size_t z = 0; z < 2; ++z)
      for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 2; ++x) {
          double const w =
              (x == 0 ? 1 - f[0] : f[0]) * (y == 0 ? 1 - f[1] : f[1]) * (z == 0 ? 1 - f[2] : f[2]);
          std::array<std::size_t, 3> const node{low[0] + x, low[1] + y, low[2] + z};
          s.value += w * grid_.at(node[0], node[1], node[2]);
          for (std::size_t d = 0; gradients && d < 3; ++d) s.gradient[d] += w * slope(node, d);
        }
    return s;
  }

  std::array<std::vector<double>, 3> where;

 private:
  /// The derivative at a grid point, from the parabola through it and its neighbours.
  [[nodiscard]] double slope(std::array<std::size_t, 3> node, std::size_t d) const {
    auto const i = node[d];
    auto const value = [&](std::size_t k) {
      node[d] = k;
      return grid_.at(node[0], node[1], node[2]);
    };
    auto const& p = where[d];
    if (i == 0) return (value(1) - value(0)) / (p[1] - p[0]);
    if (i + 1 == p.size()) return (value(i) - value(i - 1)) / (p[i] - p[i - 1]);
    double const left = (value(i) - value(i - 1)) / (p[i] - p[i - 1]);
    double const right = (value(i + 1) - value(i)) / (p[i + 1] - p[i]);
    return (left * (p[i + 1] - p[i]) + right * (p[i] - p[i - 1])) / (p[i + 1] - p[i - 1]);
  }

  volume_data::grid const& grid_;
};

/// The scalar along a ray in a cell, c0 + s (c1 + s (c2 + s c3)) with s from -1/2 to 1/2: values are
/// linear along each axis, so the cubic through four of them is exact.
class cubic {
 public:
  /// The values at s = -3/8, -1/8, 1/8 and 3/8: inside, where no rounding leads to another cell.
  explicit cubic(std::array<double, 4> const& y)
      : c3_((y[3] - 3 * y[2] + 3 * y[1] - y[0]) * 32 / 3),
        c2_((y[3] - y[2] - y[1] + y[0]) * 4),
        c1_((y[2] - y[1]) * 4 - c3_ / 64),
        c0_((y[1] + y[2]) / 2 - c2_ / 64) {}

  /// Appends where the scalar passes the value, in no order.
  void find(double value, std::vector<double>& places) const {
    // Between two extrema the cubic is monotonic and passes a value once.
    double const root = std::sqrt(std::max(0.0, c2_ * c2_ - 3 * c1_ * c3_));
    double const sum = -(c2_ + std::copysign(root, c2_));
    std::array<double, 4> ends{-0.5, inside(sum / (3 * c3_)), inside(c1_ / sum), 0.5};
    std::ranges::sort(ends);
    for (std::size_t i = 0; i < 3; ++i) {
      double low = ends[i], high = ends[i + 1];
      bool const rises = (*this)(low) < value;
      if (rises == ((*this)(high) < value)) continue;
      for (int k = 0; k < 60; ++k) {
        double const middle = 0.5 * (low + high);
        (((*this)(middle) < value) == rises ? low : high) = middle;
      }
      places.push_back(0.5 * (low + high));
    }
  }

 private:
  [[nodiscard]] double operator()(double s) const { return c0_ + s * (c1_ + s * (c2_ + s * c3_)); }
  static double inside(double s) { return s > -0.5 && s < 0.5 ? s : 0.5; }  // also of NaN

  double c3_, c2_, c1_, c0_;
};

std::array<double, 2> lit(light_spec const& l, vec3 const& gradient, vec3 const& way) {
  double const length = std::sqrt(dot(gradient, gradient));
  if (!(length > 0)) return {1, 0};
  vec3 const eye{-way[0], -way[1], -way[2]};
  vec3 const light = l.direction ? normalized(*l.direction) : eye;
  vec3 const half = add(light, 1, eye);
  double const diffuse = std::min(1.0, std::abs(dot(gradient, light)) / length);
  double const glance =
      std::min(1.0, std::abs(dot(gradient, half)) / length / std::max(1e-6, std::sqrt(dot(half, half))));
  return {l.ambient + l.diffuse * diffuse, l.specular * std::pow(glance, l.shininess)};
}

}  // namespace

std::array<double, 4> brute_force(volume_data::grid const& grid, specification const& spec,
                                  mapping_spec const& knots, camera::ray const& ray, bool parallel,
                                  int steps) {
  sampler const at(grid, spec);
  auto const t = crossings(at.where, ray, parallel);
  vec3 const sides{at.where[0].back(), at.where[1].back(), at.where[2].back()};
  double const fog_density = spec.attenuation.density / std::sqrt(dot(sides, sides));
  double transparency = 1;
  vec3 color{};
  auto const sampled = [&](double place) {
    return at(add(ray.from, place, ray.direction), spec.light.has_value());
  };
  auto const step = [&](double begin, double h) {
    double place = begin + 0.5 * h;
    auto s = sampled(place);
    double const depth = h * mapped(knots.opacity, s.value, [](auto const& o) { return o.extinction; });
    if (!(depth > 0) || !std::isfinite(s.value)) return;
    double const opacity = -std::expm1(-depth);
    if (depth > 0.01) {  // the mean place of the visible light is in front of the middle
      place = begin + h * (1 / depth - 1 / std::expm1(depth));
      s = sampled(place);
    }
    double const fog = std::exp(-fog_density * place);
    auto const light = spec.light ? lit(*spec.light, s.gradient, ray.direction) : std::array<double, 2>{1, 0};
    for (std::size_t c = 0; c < 3; ++c) {
      double const own =
          mapped(knots.color, s.value, [c](auto const& o) { return static_cast<double>(o.color[c]); });
      color[c] +=
          transparency * opacity *
          (fog * (own * light[0] + light[1]) + (1 - fog) * static_cast<double>(spec.attenuation.color[c]));
    }
    transparency *= 1 - opacity;
  };
  std::vector<double> cuts;  // shares of a cell, from -1/2 to 1/2
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    double const length = t[i + 1] - t[i], middle = 0.5 * (t[i] + t[i + 1]);
    if (!(length > 0)) continue;
    std::array<double, 4> values{};
    for (std::size_t k = 0; k < 4; ++k) {
      double const share = (static_cast<double>(k) - 1.5) / 4;
      values[k] = at(add(ray.from, middle + share * length, ray.direction), false).value;
    }
    cubic const scalar(values);
    cuts = {-0.5, 0.5};
    for (auto const& k : knots.opacity) scalar.find(k.value, cuts);
    for (auto const& k : knots.color) scalar.find(k.value, cuts);
    std::ranges::sort(cuts);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      double const part = cuts[c + 1] - cuts[c];
      // A thin layer may be opaque.
      int const count = std::max((steps + 7) / 8, static_cast<int>(std::ceil(steps * part)));
      for (int k = 0; part > 0 && k < count; ++k)
        step(middle + (cuts[c] + k * part / count) * length, part * length / count);
    }
  }
  return {color[0], color[1], color[2], 1 - transparency};
}

}  // namespace volume
