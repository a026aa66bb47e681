// Computes the topology of a mesh, independent of how it was made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "mesh.hpp"

namespace test {

using isosurface::mesh;
using directed = std::pair<std::uint32_t, std::uint32_t>;

struct topology {
  bool manifold = true;  ///< every directed edge once, every vertex used, no triangle with a vertex twice
  std::vector<directed> boundary;  ///< edges that have no partner in the other direction
  long euler = 0;                  ///< V - E + F
};

inline topology look_at(mesh const& m) {
  topology t;
  std::vector<directed> edges;
  std::vector<bool> used(m.positions.size());
  for (auto const& f : m.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      edges.emplace_back(f[i], f[(i + 1) % 3]);
      used[f[i]] = true;
      if (f[i] == f[(i + 1) % 3]) t.manifold = false;
    }
  std::sort(edges.begin(), edges.end());
  if (std::adjacent_find(edges.begin(), edges.end()) != edges.end()) t.manifold = false;
  if (std::find(used.begin(), used.end(), false) != used.end()) t.manifold = false;
  for (auto const& [a, b] : edges)
    if (!std::binary_search(edges.begin(), edges.end(), directed{b, a})) t.boundary.emplace_back(a, b);
  auto const all = static_cast<long>((edges.size() + t.boundary.size()) / 2);
  t.euler = static_cast<long>(m.positions.size()) - all + static_cast<long>(m.triangles.size());
  return t;
}

struct measures {
  double volume = 0, area = 0;  ///< volume: by the divergence theorem, of a closed surface
};
inline measures measure(mesh const& m) {
  measures sum;
  for (auto const& t : m.triangles) {
    auto const &a = m.positions[t[0]], &b = m.positions[t[1]], &c = m.positions[t[2]];
    std::array<double, 3> n{};
    for (std::size_t i = 0; i < 3; ++i) {
      auto const j = (i + 1) % 3, k = (i + 2) % 3;
      n[i] = (double{b[j]} - a[j]) * (double{c[k]} - a[k]) - (double{b[k]} - a[k]) * (double{c[j]} - a[j]);
    }
    sum.volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
    sum.area += std::hypot(n[0], n[1], n[2]) / 2;
  }
  return sum;
}

inline bool same(mesh const& a, mesh const& b) {
  return a.positions == b.positions && a.normals == b.normals && a.triangles == b.triangles;
}

}  // namespace test
