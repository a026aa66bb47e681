#include "flat_normals.hpp"

#include <algorithm>
#include <cmath>

namespace isosurface {

void fill_flat_normals(mesh& m) {
  auto const is_flat = [](point const& n) { return n[0] == 0 && n[1] == 0 && n[2] == 0; };
  if (std::ranges::none_of(m.normals, is_flat)) return;
  std::vector<bool> flat(m.normals.size());
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = is_flat(m.normals[i]);
  for (auto const& t : m.triangles) {
    if (!flat[t[0]] && !flat[t[1]] && !flat[t[2]]) continue;
    point n{};
    auto const &a = m.positions[t[0]], &b = m.positions[t[1]], &c = m.positions[t[2]];
    for (std::size_t i = 0; i < 3; ++i) {
      auto const j = (i + 1) % 3, k = (i + 2) % 3;
      n[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
    }
    for (auto const v : t)
      for (std::size_t i = 0; flat[v] && i < 3; ++i) m.normals[v][i] += n[i];
  }
  for (std::size_t v = 0; v < flat.size(); ++v) {
    if (!flat[v]) continue;
    auto& n = m.normals[v];
    auto const length = std::hypot(n[0], n[1], n[2]);
    if (length > 0)
      for (auto& x : n) x /= length;
    else
      n = {0, 0, 1};
  }
}

}  // namespace isosurface
