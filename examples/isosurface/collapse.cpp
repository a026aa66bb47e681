#include "collapse.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

namespace isosurface {

namespace {

using index = std::uint32_t;
using triangle = std::array<index, 3>;

vector3 operator+(vector3 const& a, vector3 const& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
vector3 operator-(vector3 const& a, vector3 const& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
vector3 operator*(double s, vector3 const& a) { return {s * a[0], s * a[1], s * a[2]}; }
double dot(vector3 const& a, vector3 const& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector3 cross(vector3 const& a, vector3 const& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(vector3 const& a) { return std::sqrt(dot(a, a)); }

/// The sum of squared distances to planes: x A x + 2 b x + c, with a symmetric A.
struct quadric {
  std::array<double, 6> a{};  // xx, xy, xz, yy, yz, zz
  vector3 b{};
  double c = 0;

  void add_plane(vector3 const& n, double d, double weight) {
    a[0] += weight * n[0] * n[0], a[1] += weight * n[0] * n[1], a[2] += weight * n[0] * n[2];
    a[3] += weight * n[1] * n[1], a[4] += weight * n[1] * n[2], a[5] += weight * n[2] * n[2];
    b = b + weight * d * n;
    c += weight * d * d;
  }
  void add_point(vector3 const& p, double weight) {
    for (std::size_t i : {0U, 3U, 5U}) a[i] += weight;
    b = b - weight * p;
    c += weight * dot(p, p);
  }
  friend quadric operator+(quadric q, quadric const& r) {
    for (std::size_t i = 0; i < 6; ++i) q.a[i] += r.a[i];
    q.b = q.b + r.b;
    q.c += r.c;
    return q;
  }
  [[nodiscard]] double at(vector3 const& x) const {
    return x[0] * (a[0] * x[0] + 2 * (a[1] * x[1] + a[2] * x[2] + b[0])) +
           x[1] * (a[3] * x[1] + 2 * (a[4] * x[2] + b[1])) + x[2] * (a[5] * x[2] + 2 * b[2]) + c;
  }
  /// Where it is least; A must be positive definite.
  [[nodiscard]] vector3 minimum() const {
    vector3 const x{a[0], a[1], a[2]}, y{a[1], a[3], a[4]}, z{a[2], a[4], a[5]};
    auto const yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
    return (-1 / dot(x, yz)) * (b[0] * yz + b[1] * zx + b[2] * xy);
  }
};

class collapser {
 public:
  collapser(surface_patch& patch, tricubic const& cell, vector3 const& sides, double value, double tolerance)
      : patch_(patch), cell_(cell), sides_(sides), value_(value), tolerance_(tolerance) {
    auto const n = patch.vertices.size();
    at_.reserve(n);
    for (auto const& v : patch.vertices)
      at_.push_back({v.at[0] * sides[0], v.at[1] * sides[1], v.at[2] * sides[2]});
    around_.resize(n);
    quadrics_.resize(n);
    changes_.resize(n);
    for (index t = 0; t < patch.triangles.size(); ++t)
      for (auto const v : patch.triangles[t]) around_[v].push_back(t);
    for (index v = 0; v < n; ++v) add_plane(v);
  }

  void run() {
    collapse();
    constexpr int rounds = 6;
    for (int i = 0; i < rounds; ++i)
      for (index v = 0; v < at_.size(); ++v)
        if (!fixed(v) && !around_[v].empty()) fit(v);
    finish();
  }

 private:
  struct candidate {
    double cost;
    index u, v;  // u goes to v; v is fixed, or both move
    std::uint32_t changes;
    vector3 to;

    bool operator<(candidate const& o) const {  // the greatest is the next
      return std::tie(o.cost, o.u, o.v) < std::tie(cost, u, v);
    }
  };
  struct place {
    double off;      // the signed distance from the surface, to first order
    vector3 normal;  // towards lower values
  };

  static constexpr double least_facing = 0.5;  // triangles are turned by at most 60 degrees

  [[nodiscard]] bool fixed(index v) const { return patch_.vertices[v].faces != 0; }

  [[nodiscard]] place look(vector3 const& p) const {
    auto const f = cell_.look({p[0] / sides_[0], p[1] / sides_[1], p[2] / sides_[2]});
    vector3 const g{f.gradient[0] / sides_[0], f.gradient[1] / sides_[1], f.gradient[2] / sides_[2]};
    double const steep = length(g);
    if (!(steep > 0)) return {f.value == value_ ? 0 : INFINITY, {}};
    return {(value_ - f.value) / steep, (-1 / steep) * g};
  }

  void add_plane(index v) {
    double area = 0;
    for (auto const t : around_[v]) {
      auto const& c = patch_.triangles[t];
      area += length(cross(at_[c[1]] - at_[c[0]], at_[c[2]] - at_[c[0]]));
    }
    auto const n = look(at_[v]).normal;
    quadrics_[v].add_plane(n, -dot(n, at_[v]), area);
    quadrics_[v].add_point(at_[v], 1e-3 * area);
  }

  void consider(index u, index v) {
    if (fixed(u)) std::swap(u, v);
    if (fixed(u)) return;
    auto const q = quadrics_[u] + quadrics_[v];
    auto to = fixed(v) ? at_[v] : q.minimum();
    if (!std::isfinite(q.at(to))) to = at_[v];  // no triangle has an area
    queue_.push({q.at(to), u, v, changes_[u] + changes_[v], to});
  }

  /// The other vertices of the triangles of v.
  [[nodiscard]] std::vector<index> neighbours(index v) const {
    std::vector<index> all;
    for (auto const t : around_[v])
      for (auto const w : patch_.triangles[t])
        if (w != v && std::ranges::find(all, w) == all.end()) all.push_back(w);
    return all;
  }

  [[nodiscard]] bool keeps_topology(index u, index v) const {
    auto const of_u = neighbours(u), of_v = neighbours(v);
    int common = 0;
    for (auto const w : of_u) {
      if (w == v) continue;
      if (std::ranges::find(of_v, w) != of_v.end())
        ++common;
      else if ((patch_.vertices[v].faces & patch_.vertices[w].faces) != 0)
        return false;
    }
    if (common != 2) return false;
    // A tetrahedron would leave two triangles on the same vertices.
    auto const third = [&](index t, index of) {
      auto c = patch_.triangles[t];
      std::ranges::sort(c);
      std::array<index, 2> two{};
      std::ranges::copy_if(c, two.begin(), [&](index w) { return w != of; });
      return two;
    };
    for (auto const t : around_[u])
      if (!has(t, v))
        for (auto const s : around_[v])
          if (!has(s, u) && third(t, u) == third(s, v)) return false;
    return true;
  }
  [[nodiscard]] bool has(index t, index v) const {
    auto const& c = patch_.triangles[t];
    return c[0] == v || c[1] == v || c[2] == v;
  }

  struct quality {
    double off = 0;     // the greatest distance of a sample
    double facing = 1;  // the least cosine between a triangle's normal and the surface's
    // Distances by which the moved vertex may shift along its normal, so that all samples are within
    // the tolerance, to first order.
    double least_shift = -INFINITY, greatest_shift = INFINITY;
  };
  /// Takes a sample into account in which the moved vertex has this weight.
  void add_sample(quality& q, double off, double weight) const {
    q.off = std::max(q.off, std::abs(off));
    q.least_shift = std::max(q.least_shift, (-tolerance_ - off) / weight);
    q.greatest_shift = std::min(q.greatest_shift, (tolerance_ - off) / weight);
  }
  /// Takes a triangle into account, with the edge from its corner `moved` to the next.
  void add_triangle(quality& q, std::array<vector3, 3> const& p, std::size_t moved) const {
    auto const middle = look((1.0 / 3) * (p[0] + p[1] + p[2]));
    add_sample(q, middle.off, 1.0 / 3);
    add_sample(q, look(0.5 * (p[moved] + p[(moved + 1) % 3])).off, 0.5);
    auto const n = cross(p[1] - p[0], p[2] - p[0]);
    double const size = length(n);
    q.facing = std::min(q.facing, size > 0 ? dot(n, middle.normal) / size : 0);
  }
  [[nodiscard]] bool good(quality const& q) const { return q.off <= tolerance_ && q.facing >= least_facing; }
  [[nodiscard]] bool no_worse(quality const& next, quality const& before) const {
    return next.off <= std::max(tolerance_, before.off) &&
           next.facing >= std::min(least_facing, before.facing);
  }
  [[nodiscard]] bool in_cell(vector3 const& p) const {
    for (std::size_t a = 0; a < 3; ++a)
      if (!(p[a] >= 0 && p[a] <= sides_[a])) return false;
    return true;
  }
  [[nodiscard]] std::array<vector3, 3> corners(index t) const {
    auto const& c = patch_.triangles[t];
    return {at_[c[0]], at_[c[1]], at_[c[2]]};
  }
  [[nodiscard]] std::size_t corner(index t, index v) const {
    auto const& c = patch_.triangles[t];
    return c[0] == v ? 0 : c[1] == v ? 1 : 2;
  }
  /// The quality of the triangles that a collapse changes, if u and v were at these places.
  [[nodiscard]] quality changed(candidate const& c, vector3 const& u, vector3 const& v) const {
    quality all;
    if (!fixed(c.v)) add_sample(all, look(u).off, 1), add_sample(all, look(v).off, 1);
    auto const add = [&](index moved, index other, vector3 const& at) {
      for (auto const t : around_[moved]) {
        if (has(t, other)) continue;
        auto p = corners(t);
        auto const i = corner(t, moved);
        p[i] = at;
        add_triangle(all, p, i);
      }
    };
    add(c.u, c.v, u);
    if (!fixed(c.v)) add(c.v, c.u, v);
    return all;
  }

  void collapse() {
    for (auto const& c : patch_.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        if (c[i] < c[(i + 1) % 3]) consider(c[i], c[(i + 1) % 3]);  // edges on faces cannot collapse
    while (!queue_.empty()) {
      auto const c = queue_.top();
      queue_.pop();
      if (changes_[c.u] + changes_[c.v] == c.changes && !around_[c.u].empty() && !around_[c.v].empty())
        try_collapse(c);
    }
  }

  void try_collapse(candidate c) {
    if (!keeps_topology(c.u, c.v)) return;
    auto next = changed(c, c.to, c.to);
    if (!fixed(c.v) && !good(next) && next.least_shift <= next.greatest_shift) {
      c.to = c.to + (next.least_shift + next.greatest_shift) / 2 * look(c.to).normal;
      next = changed(c, c.to, c.to);
    }
    if (!fixed(c.v) && !in_cell(c.to)) return;
    if (!good(next) && !no_worse(next, changed(c, at_[c.u], at_[c.v]))) return;
    auto& of_v = around_[c.v];
    for (auto const t : around_[c.u]) {
      if (has(t, c.v)) {
        for (auto const w : patch_.triangles[t])
          if (w != c.u) std::erase(around_[w], t);
        patch_.triangles[t] = {};
      } else {
        patch_.triangles[t][corner(t, c.u)] = c.v;
        of_v.push_back(t);
      }
    }
    around_[c.u].clear();
    quadrics_[c.v] = quadrics_[c.u] + quadrics_[c.v];
    at_[c.v] = c.to;
    ++changes_[c.v];
    for (auto const w : neighbours(c.v)) consider(c.v, w);
  }

  /// Moves a vertex along the surface's normal to where the squares are least.
  void fit(index v) {
    auto const n = look(at_[v]).normal;
    double sum = 0, weights = 0;
    for (auto const t : around_[v]) {
      auto const p = corners(t);
      auto const i = corner(t, v);
      auto const area = length(cross(p[1] - p[0], p[2] - p[0]));
      auto const add = [&](double share, double weight, vector3 const& at) {
        auto const here = look(at);
        if (!std::isfinite(here.off)) return;
        sum += share * area * weight * here.off;
        weights += share * area * weight * weight * dot(n, here.normal);
      };
      add(0.45, 1.0 / 3, (1.0 / 3) * (p[0] + p[1] + p[2]));
      add(2.0 / 15, 0.5, 0.5 * (p[i] + p[(i + 1) % 3]));
      add(2.0 / 15, 0.5, 0.5 * (p[i] + p[(i + 2) % 3]));
      add(0.05, 1, p[i]);
    }
    if (!(weights > 0)) return;
    auto const to = at_[v] + std::clamp(-sum / weights, -tolerance_, tolerance_) * n;
    if (!in_cell(to)) return;
    auto const star = [&] {
      quality all;
      add_sample(all, look(at_[v]).off, 1);
      for (auto const t : around_[v]) add_triangle(all, corners(t), corner(t, v));
      return all;
    };
    auto const before = star();
    auto const old = std::exchange(at_[v], to);
    if (!no_worse(star(), before)) at_[v] = old;
  }

  void finish() {
    std::erase_if(patch_.triangles, [](triangle const& t) { return t[0] == t[1]; });
    for (index v = 0; v < at_.size(); ++v)
      if (!fixed(v))
        for (std::size_t a = 0; a < 3; ++a) patch_.vertices[v].at[a] = at_[v][a] / sides_[a];
  }

  surface_patch& patch_;
  tricubic const& cell_;
  vector3 const& sides_;
  double value_, tolerance_;
  std::vector<vector3> at_;
  std::vector<std::vector<index>> around_;  // triangles
  std::vector<quadric> quadrics_;
  std::vector<std::uint32_t> changes_;
  std::priority_queue<candidate> queue_;
};

}  // namespace

void collapse_edges(surface_patch& patch, tricubic const& cell, vector3 const& sides, double value,
                    double tolerance) {
  collapser(patch, cell, sides, value, tolerance).run();
}

}  // namespace isosurface
