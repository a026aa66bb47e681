#include "case_table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace isosurface {

namespace {

using edge_number = std::uint8_t;

constexpr std::size_t edge_between(std::size_t a, std::size_t b) {
  auto const axis = (a ^ b) == 1 ? 0U : (a ^ b) == 2 ? 1U : 2U;
  auto const low = a & b;
  auto const x = low & 1U, y = (low >> 1U) & 1U, z = (low >> 2U) & 1U;
  return 4 * axis + (axis == 0 ? y + 2 * z : axis == 1 ? x + 2 * z : x + 2 * y);
}

// The corners of each face, counter-clockwise seen from outside.
constexpr std::array<std::array<std::size_t, 4>, 6> faces{
    {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}};

bool share_face(edge_number a, edge_number b) {
  for (auto const& f : faces) {
    bool has_a = false, has_b = false;
    for (std::size_t i = 0; i < 4; ++i) {
      auto const e = edge_between(f[i], f[(i + 1) % 4]);
      has_a = has_a || e == a;
      has_b = has_b || e == b;
    }
    if (has_a && has_b) return true;
  }
  return false;
}

/// The cut edge that follows each cut edge on the boundary of the surface, around the region above.
std::array<int, 12> followers(unsigned above) {
  std::array<int, 12> next{};
  next.fill(-1);
  auto const is_above = [&](std::size_t corner) { return ((above >> corner) & 1U) != 0; };
  for (auto const& f : faces)
    for (std::size_t i = 0; i < 4; ++i) {
      if (is_above(f[i]) || !is_above(f[(i + 1) % 4])) continue;
      auto end = i + 1;  // start of a run of corners above
      while (is_above(f[(end + 1) % 4])) ++end;
      next[edge_between(f[i], f[(i + 1) % 4])] = static_cast<int>(edge_between(f[end % 4], f[(end + 1) % 4]));
    }
  return next;
}

/// Divides polygon[first ... last] into triangles, with as few diagonals in faces as possible.
struct division {
  int in_faces = 0;
  std::vector<std::array<edge_number, 3>> triangles;
};
division divide(std::vector<edge_number> const& polygon, std::size_t first, std::size_t last) {
  if (last - first < 2) return {};
  division best{100, {}};
  for (auto middle = first + 1; middle < last; ++middle) {
    auto low = divide(polygon, first, middle), high = divide(polygon, middle, last);
    int cost = low.in_faces + high.in_faces;
    if (middle - first > 1 && share_face(polygon[first], polygon[middle])) ++cost;
    if (last - middle > 1 && share_face(polygon[middle], polygon[last])) ++cost;
    if (cost >= best.in_faces) continue;
    best = {cost, std::move(low.triangles)};
    best.triangles.insert(best.triangles.end(), high.triangles.begin(), high.triangles.end());
    best.triangles.push_back({polygon[first], polygon[middle], polygon[last]});
  }
  return best;
}

cube_case make_case(unsigned above) {
  cube_case c;
  auto next = followers(above);
  for (edge_number e = 0; e < 12; ++e) {
    std::vector<edge_number> polygon;
    for (int at = e; next[static_cast<std::size_t>(at)] >= 0;) {
      polygon.push_back(static_cast<edge_number>(at));
      c.edges = static_cast<std::uint16_t>(c.edges | (1U << static_cast<unsigned>(at)));
      at = std::exchange(next[static_cast<std::size_t>(at)], -1);
    }
    if (polygon.empty()) continue;
    ++c.polygons;
    for (auto const& t : divide(polygon, 0, polygon.size() - 1).triangles)
      std::ranges::copy(t, c.corners.begin() + 3 * c.triangles++);
  }
  return c;
}

}  // namespace

std::array<cube_case, 256> const& cube_cases() {
  static auto const table = [] {
    std::array<cube_case, 256> all;
    for (unsigned i = 0; i < 256; ++i) all[i] = make_case(i);
    return all;
  }();
  return table;
}

}  // namespace isosurface
