#include "face_outline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace isosurface {

namespace {

double distance_to_chord(point2 const& p, point2 const& a, point2 const& b) {
  double const x = b[0] - a[0], y = b[1] - a[1], px = p[0] - a[0], py = p[1] - a[1];
  double const squared = x * x + y * y;
  double const t = squared > 0 ? std::clamp((px * x + py * y) / squared, 0.0, 1.0) : 0;
  return std::hypot(px - t * x, py - t * y);
}

double greatest_distance(std::span<point2 const> chain) {
  double most = 0;
  for (std::size_t i = 1; i + 1 < chain.size(); ++i)
    most = std::max(most, distance_to_chord(chain[i], chain.front(), chain.back()));
  return most;
}

}  // namespace

std::vector<std::size_t> fewest_chords(std::span<point2 const> points, double tolerance, bool bent) {
  struct way {
    std::size_t chords = SIZE_MAX, from = 0;
    double squares = 0;
  };
  auto const n = points.size();
  std::vector<way> best(n);
  best[0].chords = 0;
  for (std::size_t to = 1; to < n; ++to)
    for (auto from = to; from-- > 0;) {
      if (bent && from == 0 && to + 1 == n) continue;
      if (best[from].chords >= best[to].chords) continue;
      double const off = greatest_distance(points.subspan(from, to - from + 1));
      bool const first = from == 0, last = to + 1 == n;
      double const factor = first && last ? 1 : first || last ? 4.0 / 3 : 2;
      if (off > factor * tolerance && to - from > 1) continue;
      way const w{best[from].chords + 1, from, best[from].squares + off * off};
      if (w.chords < best[to].chords || w.squares < best[to].squares) best[to] = w;
    }
  std::vector<std::size_t> kept;
  for (auto at = n - 1; at > 0; at = best[at].from) kept.push_back(at);
  kept.push_back(0);
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace isosurface
