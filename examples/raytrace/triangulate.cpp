#include "triangulate.hpp"

#include <algorithm>
#include <cmath>

namespace raytrace {

namespace {

struct point {
  double x, y;
};

double turn(point a, point b, point c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

// Drops the coordinate in which the normal is largest; counter-clockwise polygons stay
// counter-clockwise.
std::vector<point> projected(std::span<vec3d const> corners, vec3d n) {
  double const x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
  std::vector<point> flat;
  flat.reserve(corners.size());
  for (auto const& c : corners) {
    if (z >= x && z >= y) {
      flat.push_back(n.z > 0 ? point{c.x, c.y} : point{c.y, c.x});
    } else if (y >= x) {
      flat.push_back(n.y > 0 ? point{c.z, c.x} : point{c.x, c.z});
    } else {
      flat.push_back(n.x > 0 ? point{c.y, c.z} : point{c.z, c.y});
    }
  }
  return flat;
}

// The remaining polygon as a ring of corners.
class clipper {
 public:
  explicit clipper(std::vector<point> flat)
      : flat_(std::move(flat)), next_(flat_.size()), previous_(flat_.size()) {
    auto const n = static_cast<std::uint32_t>(flat_.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      next_[i] = (i + 1) % n;
      previous_[i] = (i + n - 1) % n;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      if (turn_at(i) <= 0) reflex_.push_back(i);
    }
  }

  std::vector<piece> clip_all() {
    std::vector<piece> pieces;
    std::size_t left = flat_.size(), refused = 0;
    std::uint32_t i = 0;
    while (left > 2) {
      // A self-intersecting polygon may have no ear; then any corner is cut.
      if (refused < left && !is_ear(i)) {
        i = next_[i];
        ++refused;
        continue;
      }
      pieces.push_back({{previous_[i], i, next_[i], 0}, 3, 0});
      next_[previous_[i]] = next_[i];
      previous_[next_[i]] = previous_[i];
      // Skipping a corner cuts round polygons from outside to inside instead of into a fan of slivers.
      i = next_[next_[i]];
      refused = 0;
      --left;
    }
    return pieces;
  }

 private:
  [[nodiscard]] double turn_at(std::uint32_t i) const {
    return turn(flat_[previous_[i]], flat_[i], flat_[next_[i]]);
  }

  bool is_ear(std::uint32_t i) {
    if (turn_at(i) <= 0) return false;
    point const a = flat_[previous_[i]], b = flat_[i], c = flat_[next_[i]];
    double const left = std::min({a.x, b.x, c.x}), right = std::max({a.x, b.x, c.x});
    double const low = std::min({a.y, b.y, c.y}), high = std::max({a.y, b.y, c.y});
    for (auto const r : reflex_) {  // only corners that were reflex at the start can lie inside
      if (r == previous_[i] || r == i || r == next_[i]) continue;
      point const p = flat_[r];
      if (p.x < left || p.x > right || p.y < low || p.y > high) continue;
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
    }
    return true;
  }

  std::vector<point> flat_;
  std::vector<std::uint32_t> next_, previous_, reflex_;
};

void mark_outer(piece& p, std::uint32_t corners) {
  p.outer = 0;
  for (std::uint32_t e = 0; e < p.corners; ++e) {
    if ((p.corner[e] + 1) % corners == p.corner[(e + 1) % p.corners]) p.outer |= 1U << e;
  }
}

bool convex(std::array<std::uint32_t, 4> const& q, std::vector<point> const& flat) {
  for (std::size_t e = 0; e < 4; ++e) {
    if (turn(flat[q[e]], flat[q[(e + 1) % 4]], flat[q[(e + 2) % 4]]) <= 0) return false;
  }
  return true;
}

// Each triangle was cut off by the diagonal from its corner 2 to its corner 0; the piece on the
// other side comes later in the list.
void pair_up(std::vector<piece>& pieces, std::vector<point> const& flat) {
  struct waiting {
    std::uint32_t from, to, index;
    auto operator<=>(waiting const&) const = default;
  };
  std::vector<waiting> edges;  // every directed edge of every triangle
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    for (std::uint32_t e = 0; e < 3; ++e) {
      edges.push_back({pieces[i].corner[e], pieces[i].corner[(e + 1) % 3], i});
    }
  }
  std::sort(edges.begin(), edges.end());
  std::vector<bool> taken(pieces.size());
  std::vector<piece> paired;
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    if (taken[i]) continue;
    auto result = pieces[i];
    auto const a = result.corner[0], b = result.corner[1], c = result.corner[2];
    auto const found = std::lower_bound(edges.begin(), edges.end(), waiting{a, c, 0});
    if (found != edges.end() && found->from == a && found->to == c && found->index > i &&
        !taken[found->index]) {
      auto const& other = pieces[found->index];
      std::uint32_t far = other.corner[0];
      for (auto const v : other.corner) {
        if (v != a && v != c) far = v;
        if (v != a && v != c) break;
      }
      std::array<std::uint32_t, 4> const quad{a, b, c, far};
      if (convex(quad, flat)) {
        taken[found->index] = true;
        result = {quad, 4, 0};
      }
    }
    paired.push_back(result);
  }
  pieces = std::move(paired);
}

}  // namespace

vec3d newell_normal(std::span<vec3d const> corners) {
  vec3d sum;
  auto const origin = corners[0];  // relative coordinates preserve the digits of small, distant polygons
  for (std::size_t i = 0; i < corners.size(); ++i) {
    sum = sum + cross(corners[i] - origin, corners[(i + 1) % corners.size()] - origin);
  }
  return sum;
}

namespace {

// Keeps the last of consecutive equal corners, also around the end. In ear clipping the others
// would lie on the edge of every adjacent ear.
std::vector<std::uint32_t> without_repeats(std::span<vec3d const> corners) {
  std::vector<std::uint32_t> kept;
  auto const n = static_cast<std::uint32_t>(corners.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!(corners[i] == corners[(i + 1) % n])) kept.push_back(i);
  }
  return kept;
}

}  // namespace

std::vector<piece> triangulate(std::span<vec3d const> corners, vec3d normal, bool triangles_only) {
  auto const kept = without_repeats(corners);
  if (kept.size() != corners.size()) {
    std::vector<vec3d> distinct;
    for (auto const i : kept) distinct.push_back(corners[i]);
    if (distinct.size() < 3) return {};
    auto pieces = triangulate(distinct, normal, triangles_only);
    for (auto& p : pieces) {
      for (std::uint32_t c = 0; c < p.corners; ++c) p.corner[c] = kept[p.corner[c]];
    }
    return pieces;
  }
  auto const flat = projected(corners, normal);
  auto const n = static_cast<std::uint32_t>(corners.size());
  std::vector<piece> pieces;
  if (n == 3) {
    pieces.push_back({{0, 1, 2, 0}, 3, 0});
  } else if (n == 4 && !triangles_only && convex({0, 1, 2, 3}, flat)) {
    pieces.push_back({{0, 1, 2, 3}, 4, 0});
  } else {
    pieces = clipper(flat).clip_all();
    if (!triangles_only) pair_up(pieces, flat);
  }
  for (auto& p : pieces) mark_outer(p, n);
  return pieces;
}

}  // namespace raytrace
