// A mesh that is awkward for files: numbers that need all their digits, and an empty surface
// between others.
#pragma once

#include <cmath>
#include <vector>

#include "mesh.hpp"

namespace test {

/// A fan of `n` triangles around a point, for values -0.1 (n of them), 300 (none) and 1e-30 (n again).
inline isosurface::mesh small_mesh(unsigned n) {
  isosurface::mesh m;
  for (double const value : {-0.1, 300.0, 1e-30}) {
    isosurface::surface_part part{value, m.positions.size(), 0, m.triangles.size(), 0};
    if (value != 300.0 && n > 0) {
      auto const centre = static_cast<std::uint32_t>(m.positions.size());
      for (unsigned i = 0; i <= n + 1; ++i) {
        auto const angle = static_cast<float>(i) * 0.37F;
        m.positions.push_back({std::cos(angle) * static_cast<float>(i), -1.0F / (3 + angle), 1e-7F * angle});
        m.normals.push_back({std::sin(angle), 0, std::cos(angle)});
      }
      for (std::uint32_t i = 1; i <= n; ++i) m.triangles.push_back({centre, centre + i, centre + i + 1});
    }
    part.end_vertex = m.positions.size();
    part.end_triangle = m.triangles.size();
    m.parts.push_back(part);
  }
  return m;
}

/// Balls of these radii around (5, -2, 100), each of 2 n x n quadrilaterals by longitude and latitude.
inline isosurface::mesh balls(std::vector<double> const& radii, unsigned n) {
  isosurface::mesh m;
  for (double const r : radii) {
    isosurface::surface_part part{r, m.positions.size(), 0, m.triangles.size(), 0};
    auto const first = static_cast<std::uint32_t>(m.positions.size());
    for (unsigned j = 0; j <= n; ++j)
      for (unsigned i = 0; i < 2 * n; ++i) {
        double const a = M_PI * i / n, b = M_PI * j / n;
        std::array<double, 3> const out{std::sin(b) * std::cos(a), std::sin(b) * std::sin(a), std::cos(b)};
        m.normals.push_back(
            {static_cast<float>(out[0]), static_cast<float>(out[1]), static_cast<float>(out[2])});
        m.positions.push_back({static_cast<float>(5 + r * out[0]), static_cast<float>(-2 + r * out[1]),
                               static_cast<float>(100 + r * out[2])});
      }
    auto const at = [&](unsigned i, unsigned j) { return first + j * 2 * n + i % (2 * n); };
    for (unsigned j = 0; j < n; ++j)
      for (unsigned i = 0; i < 2 * n; ++i) {
        m.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
        m.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
      }
    part.end_vertex = m.positions.size();
    part.end_triangle = m.triangles.size();
    m.parts.push_back(part);
  }
  return m;
}

}  // namespace test
