// A mesh with what is awkward in files: numbers that need all their digits, an empty surface between others.
#pragma once

#include <cmath>

#include "../../../examples/isosurface/mesh.hpp"

namespace test {

/// A fan of `n` triangles around a point, for values -0.1 (n of them), 300 (none) and 1e-30 (n again).
inline skel::isosurface::mesh small_mesh(unsigned n) {
  skel::isosurface::mesh m;
  for (double const value : {-0.1, 300.0, 1e-30}) {
    skel::isosurface::surface_part part{value, m.positions.size(), 0, m.triangles.size(), 0};
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

}  // namespace test
