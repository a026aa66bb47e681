#include "surface_patch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "collapse.hpp"
#include "face_outline.hpp"

namespace isosurface {

namespace {

using index = std::uint32_t;
using chain = std::vector<index>;  // in the direction of the triangles; a loop ends with its first vertex

/// The polylines in which a patch meets each face.
class outline {
 public:
  explicit outline(surface_patch const& patch) {
    std::set<std::pair<index, index>> edges;
    for (auto const& t : patch.triangles)
      for (std::size_t i = 0; i < 3; ++i) edges.emplace(t[i], t[(i + 1) % 3]);
    for (auto const& e : edges)
      if (!edges.contains({e.second, e.first})) {
        auto const common = patch.vertices[e.first].faces & patch.vertices[e.second].faces;
        for (std::size_t f = 0; f < 6; ++f)
          if (((common >> f) & 1U) != 0) next_[f][e.first] = e.second;
      }
  }

  /// Calls call(face, chain) for each.
  template <class Call>
  void each(Call const& call) {
    for (std::size_t f = 0; f < 6; ++f) {
      auto& next = next_[f];
      std::set<index> entered;
      for (auto const& [a, b] : next) entered.insert(b);
      std::vector<index> starts;
      for (auto const& [a, b] : next)
        if (!entered.contains(a)) starts.push_back(a);
      for (auto const a : starts) call(f, follow(next, a));
      while (!next.empty()) call(f, follow(next, next.begin()->first));
    }
  }

 private:
  static chain follow(std::map<index, index>& next, index at) {
    chain c{at};
    for (auto n = next.find(at); n != next.end(); n = next.find(c.back())) {
      c.push_back(n->second);
      next.erase(n);
    }
    return c;
  }

  std::array<std::map<index, index>, 6> next_;
};

/// Brings a chain to the order in which both neighbours see it. Returns whether it was reversed.
bool make_canonical(chain& c, surface_patch const& patch) {
  auto const key = [&](index v) { return patch.vertices[v].edge; };
  bool const loop = c.front() == c.back();
  if (loop) {
    c.pop_back();
    std::ranges::rotate(c, std::ranges::min_element(c, {}, key));
    c.push_back(c.front());
  }
  bool const reverse = loop ? key(c[c.size() - 2]) < key(c[1]) : key(c.back()) < key(c.front());
  if (reverse) std::ranges::reverse(c);
  return reverse;
}

class face_simplifier {
 public:
  face_simplifier(surface_patch& patch, vector3 const& sides, double tolerance)
      : patch_(patch), sides_(sides), tolerance_(tolerance) {}

  /// Keeps some vertices of a chain, moves them in the face, and fills the gap to the others.
  void operator()(std::size_t face, chain c) {
    bool const reversed = make_canonical(c, patch_);
    auto const normal = face / 2;
    axes_ = {normal == 0 ? 1U : 0U, normal == 2 ? 1U : 2U};
    points_.clear();
    for (auto const v : c)
      points_.push_back({patch_.vertices[v].at[axes_[0]] * sides_[axes_[0]],
                         patch_.vertices[v].at[axes_[1]] * sides_[axes_[1]]});
    auto const kept = keep(c);
    if (kept.size() == c.size()) return;
    move(c, kept);
    for (std::size_t k = 1; k < kept.size(); ++k) {
      auto const first = c[kept[k - 1]];
      for (auto i = kept[k - 1] + 1; i < kept[k]; ++i) {
        patch_.vertices[c[i]].faces = 0;  // now it lies inside the mesh
        if (reversed)
          patch_.triangles.push_back({first, c[i], c[i + 1]});
        else
          patch_.triangles.push_back({first, c[i + 1], c[i]});
      }
    }
  }

 private:
  [[nodiscard]] std::vector<std::size_t> keep(chain const& c) const {
    std::span<point2 const> const all(points_);
    if (c.front() != c.back()) {
      // Two faces next to each other must not have the same chord.
      auto const edges = patch_.vertices[c.front()].faces & patch_.vertices[c.back()].faces;
      return fewest_chords(all, tolerance_, (edges & (edges - 1)) != 0);
    }
    auto const middle = c.size() / 2;  // a loop keeps at least three vertices
    auto kept = fewest_chords(all.first(middle + 1), tolerance_, true);
    for (auto const i : fewest_chords(all.subspan(middle), tolerance_, false))
      if (i > 0) kept.push_back(middle + i);
    return kept;
  }

  /// The signed distance of the farthest vertex between two that are kept.
  [[nodiscard]] double sagitta(std::size_t from, std::size_t to) const {
    auto const &a = points_[from], &b = points_[to];
    double const x = b[0] - a[0], y = b[1] - a[1], length = std::hypot(x, y);
    double most = 0;
    for (auto i = from + 1; i < to && length > 0; ++i) {
      double const off = (x * (points_[i][1] - a[1]) - y * (points_[i][0] - a[0])) / length;
      if (std::abs(off) > std::abs(most)) most = off;
    }
    return most;
  }

  /// Moves vertices inside the face beyond the curve, so that the chords lie on both sides of it:
  /// by 2/3 of what they are off in the middle, the mean of a parabola.
  void move(chain const& c, std::vector<std::size_t> const& kept) {
    for (std::size_t k = 1; k + 1 < kept.size(); ++k) {
      auto const &a = points_[kept[k - 1]], &b = points_[kept[k + 1]];
      double const x = b[0] - a[0], y = b[1] - a[1], length = std::hypot(x, y);
      if (!(length > 0)) continue;
      double const by = (sagitta(kept[k - 1], kept[k]) + sagitta(kept[k], kept[k + 1])) / 3;
      auto& v = patch_.vertices[c[kept[k]]].at;
      double const to_x = v[axes_[0]] - by * y / length / sides_[axes_[0]];
      double const to_y = v[axes_[1]] + by * x / length / sides_[axes_[1]];
      if (to_x >= 0 && to_x <= 1 && to_y >= 0 && to_y <= 1) v[axes_[0]] = to_x, v[axes_[1]] = to_y;
    }
  }

  surface_patch& patch_;
  vector3 const& sides_;
  double tolerance_;
  std::array<std::size_t, 2> axes_{};
  std::vector<point2> points_;
};

}  // namespace

void simplify(surface_patch& patch, tricubic const& cell, vector3 const& sides, double value,
              double tolerance) {
  face_simplifier in_face(patch, sides, tolerance);
  outline(patch).each([&](std::size_t face, chain const& c) { in_face(face, c); });
  collapse_edges(patch, cell, sides, value, tolerance);
}

}  // namespace isosurface
