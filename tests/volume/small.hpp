// Small volumes and rays for the tests.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "brute_force.hpp"
#include "grid.hpp"
#include "prepared_volume.hpp"
#include "renderer.hpp"

namespace test {

using volume::camera;
using volume::specification;
using volume::vec3;
using volume_data::grid;

inline grid make_grid(std::array<std::vector<double>, 3> coordinates,
                      std::function<double(double, double, double)> const& f) {
  grid g;
  g.header.name = "test";
  g.header.type = volume_data::scalar_type::float64;
  for (std::size_t d = 0; d < 3; ++d) g.header.size[d] = coordinates[d].size();
  g.values.resize(g.header.bytes());
  auto* to = g.values.data();
  for (auto const z : coordinates[2])
    for (auto const y : coordinates[1])
      for (auto const x : coordinates[0]) {
        double const v = f(x, y, z);
        std::memcpy(to, &v, sizeof v);
        to += sizeof v;
      }
  g.header.coordinates = std::move(coordinates);
  return g;
}

inline std::vector<double> even(std::size_t points, double low = 0, double high = 1) {
  std::vector<double> c(points);
  for (std::size_t i = 0; i < points; ++i)
    c[i] = low + (high - low) * static_cast<double>(i) / static_cast<double>(points - 1);
  return c;
}

/// Points whose distances vary by a factor of ten.
inline std::vector<double> uneven(std::size_t points, unsigned seed, double low = 0, double high = 1) {
  std::mt19937 random(seed);
  std::vector<double> c{0};
  while (c.size() < points)
    c.push_back(c.back() + 1 + 9 * std::pow(static_cast<double>(random() % 1000) / 1000, 3));
  for (auto& x : c) x = low + (high - low) * (x / c.back());
  c.back() = high;
  return c;
}

/// Absolute colours and extinctions per unit of length, as given.
inline specification with_mapping(std::vector<volume::mapping_spec::color_knot> color,
                                  std::vector<volume::mapping_spec::opacity_knot> opacity) {
  specification s;
  s.mapping = {std::move(color), std::move(opacity), 1.0, false};
  s.visibility_limit = 1;
  return s;
}

inline camera::ray ray_between(vec3 const& from, vec3 const& to) {
  return {from, volume::normalized(volume::add(to, -1, from))};
}

/// Renders a ray through a volume prepared from g; the view is irrelevant.
inline volume::rgba along(grid const& g, specification const& s, camera::ray const& ray) {
  volume::prepared_volume const v(g, s);
  volume::renderer const r(v, s, volume::make_camera(s, v.low(), v.sides(), 8, 8));
  volume::work_counts counts;
  return r.along(ray, counts);
}

inline std::array<double, 4> numbers(volume::rgba const& p) {
  return {static_cast<double>(p.red), static_cast<double>(p.green), static_cast<double>(p.blue),
          static_cast<double>(p.opacity)};
}

inline double difference(std::array<double, 4> const& a, std::array<double, 4> const& b) {
  double most = 0;
  for (std::size_t c = 0; c < 4; ++c) most = std::max(most, std::abs(a[c] - b[c]));
  return most;
}

}  // namespace test
