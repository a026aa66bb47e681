#include "paper_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cell_walk.hpp"

namespace volume {

namespace {

/// The integrand at one place: extinction, and colour times extinction.
struct integrand {
  double extinction = 0;
  vec3 emission{};
};

/// The result over a part of a ray: opacity, and the colour that leaves it at the front.
struct contribution {
  double opacity = 0;
  vec3 color{};
};

class cell_integrand {
 public:
  cell_integrand(prepared_volume const& volume, specification const& spec, camera::ray const& ray)
      : volume_(volume), spec_(spec), ray_(ray) {}

  void enter(cell_visit const& c) {
    auto const& v = volume_.view();
    at_ = c.cell[0] + c.cell[1] * static_cast<std::size_t>(v.stride[1]) +
          c.cell[2] * static_cast<std::size_t>(v.stride[2]);
    for (std::size_t d = 0; d < 3; ++d) {
      low_[d] = volume_.planes()[d][c.cell[d]];
      size_[d] = volume_.planes()[d][c.cell[d] + 1] - low_[d];
    }
  }
  [[nodiscard]] bool visible() const { return volume_.view().cells[at_] == visible_cell; }

  [[nodiscard]] integrand operator()(double t) const {
    vec3 f{};
    for (std::size_t d = 0; d < 3; ++d)
      f[d] = std::clamp((ray_.from[d] + t * ray_.direction[d] - low_[d]) / size_[d], 0.0, 1.0);
    auto const& values = volume_.view().values;
    double const s = interpolated(f, [&](std::size_t i) { return static_cast<double>(values[i]); });
    auto const& pieces = volume_.mapping().pieces();
    auto piece = pieces.begin();
    while (s >= static_cast<double>(piece->upper)) ++piece;
    double const a = s - static_cast<double>(piece->knot);
    integrand r;
    r.extinction = std::max(0.0, static_cast<double>(piece->k0) + static_cast<double>(piece->k1) * a);
    if (r.extinction == 0) return r;
    auto const light = spec_.light ? lighting(f) : std::array<double, 2>{1, 0};
    double const fog = std::exp(-static_cast<double>(volume_.view().fog_density) * t);
    for (std::size_t c = 0; c < 3; ++c) {
      double const own = static_cast<double>(piece->c0[c]) + static_cast<double>(piece->c1[c]) * a;
      r.emission[c] = r.extinction * (fog * (own * light[0] + light[1]) +
                                      (1 - fog) * static_cast<double>(spec_.attenuation.color[c]));
    }
    return r;
  }

 private:
  template <class Get>
  [[nodiscard]] double interpolated(vec3 const& f, Get const& get) const {
    auto const& stride = volume_.view().stride;
    double sum = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      auto const x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
      sum +=
          get(at_ + x + y * static_cast<std::size_t>(stride[1]) + z * static_cast<std::size_t>(stride[2])) *
          (x != 0 ? f[0] : 1 - f[0]) * (y != 0 ? f[1] : 1 - f[1]) * (z != 0 ? f[2] : 1 - f[2]);
    }
    return sum;
  }

  /// The factor of the colour and the added colour, as in the kernel's shade().
  [[nodiscard]] std::array<double, 2> lighting(vec3 const& f) const {
    auto const& v = volume_.view();
    vec3 g{};
    for (std::size_t d = 0; d < 3; ++d)
      g[d] = interpolated(f, [&](std::size_t i) { return static_cast<double>(v.gradients[4 * i + d]); });
    if (!(dot(g, g) > 1e-20)) return {1, 0};
    g = normalized(g);
    vec3 const eye{-ray_.direction[0], -ray_.direction[1], -ray_.direction[2]};
    vec3 const light = v.light_from_eye
                           ? eye
                           : vec3{static_cast<double>(v.light[0]), static_cast<double>(v.light[1]),
                                  static_cast<double>(v.light[2])};
    vec3 const half = add(light, 1, eye);
    double const glance = std::abs(dot(g, half)) / std::sqrt(std::max(dot(half, half), 1e-12));
    return {static_cast<double>(v.ambient) +
                static_cast<double>(v.diffuse) * std::min(1.0, std::abs(dot(g, light))),
            static_cast<double>(v.specular) * std::pow(std::min(1.0, glance), v.shininess)};
  }

  prepared_volume const& volume_;
  specification const& spec_;
  camera::ray const& ray_;
  std::size_t at_ = 0;
  vec3 low_{}, size_{};
};

/// The trapezoid rule for both integrals: optical depth up to each node, and emission times
/// transparency.
contribution trapezoid(cell_integrand const& f, double a, double b, int steps) {
  double const h = (b - a) / steps;
  contribution sum;
  double depth = 0;
  integrand last = f(a);
  for (int i = 1; i <= steps; ++i) {
    integrand const next = f(i == steps ? b : a + i * h);
    double const before = std::exp(-depth);
    depth += (last.extinction + next.extinction) * h / 2;
    double const behind = std::exp(-depth);
    for (std::size_t c = 0; c < 3; ++c)
      sum.color[c] += (last.emission[c] * before + next.emission[c] * behind) * h / 2;
    last = next;
  }
  sum.opacity = -std::expm1(-depth);
  return sum;
}

bool close(contribution const& a, contribution const& b, double tolerance) {
  double most = std::abs(a.opacity - b.opacity);
  for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(a.color[c] - b.color[c]));
  return most <= tolerance;
}

template <class Rule>
rgba integrate(prepared_volume const& volume, specification const& spec, camera::ray const& ray, double least,
               work_counts& counts, Rule const& rule) {
  cell_integrand f(volume, spec, ray);
  double transparency = 1;
  vec3 color{};
  walk_cells(volume.planes(), ray, least, [&](cell_visit const& cell) {
    ++counts.cells;
    f.enter(cell);
    if (!f.visible()) return true;
    contribution const part = rule(f, cell.enters, cell.leaves);
    for (std::size_t c = 0; c < 3; ++c) color[c] += transparency * part.color[c];
    transparency *= 1 - part.opacity;
    return transparency > 1 - spec.visibility_limit;
  });
  return {static_cast<float>(color[0]), static_cast<float>(color[1]), static_cast<float>(color[2]),
          static_cast<float>(1 - transparency)};
}

}  // namespace

rgba trapezoid_along(prepared_volume const& volume, specification const& spec, camera::ray const& ray,
                     double least, int steps, work_counts& counts) {
  return integrate(volume, spec, ray, least, counts, [&](cell_integrand const& f, double a, double b) {
    counts.segments += static_cast<std::uint64_t>(steps);
    return trapezoid(f, a, b, steps);
  });
}

rgba trapezoid_along(prepared_volume const& volume, specification const& spec, camera::ray const& ray,
                     double least, work_counts& counts) {
  constexpr int most_steps = 1024;
  return integrate(volume, spec, ray, least, counts, [&](cell_integrand const& f, double a, double b) {
    int steps = 2;  // one step would miss a thin layer in the middle
    contribution last = trapezoid(f, a, b, steps);
    for (;;) {
      counts.segments += static_cast<std::uint64_t>(steps);
      steps *= 2;
      contribution const next = trapezoid(f, a, b, steps);
      if (close(last, next, spec.tolerance) || steps >= most_steps) return next;
      last = next;
    }
  });
}

}  // namespace volume
