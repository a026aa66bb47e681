#include "skel/model/machine.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/format.hpp"
#include "least_squares.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

// Interpolates between two curves, on the pieces of both.
curve between(curve const& a, curve const& b, double share) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  std::set<double> cuts;
  for (auto const* c : {&a, &b})
    for (auto const& p : c->pieces) cuts.insert(p.from_bytes);
  auto const piece_at = [](curve const& c, double bytes) {
    auto const* found = &c.pieces.front();
    for (auto const& p : c.pieces)
      if (p.from_bytes <= bytes) found = &p;
    return *found;
  };
  curve mixed;
  mixed.deviation = std::max(a.deviation, b.deviation);
  for (double const from : cuts) {
    auto const x = piece_at(a, from);
    auto const y = piece_at(b, from);
    if (!mixed.pieces.empty()) mixed.pieces.back().to_bytes = from;
    mixed.pieces.push_back({from, std::numeric_limits<double>::infinity(),
                            std::lerp(x.latency_seconds, y.latency_seconds, share),
                            std::lerp(x.gap_seconds_per_byte, y.gap_seconds_per_byte, share)});
  }
  return mixed;
}

using points_of_curve = std::span<std::pair<double, double> const>;

points_of_curve part_of(points_of_curve points, std::size_t from, std::size_t to) {
  return points.subspan(from, to - from);
}

struct cuts {
  std::vector<std::size_t> at;  // with both ends
  double deviation = 0;
};

// The pieces of a curve with the least Bayesian information criterion.
cuts best_cuts(points_of_curve points) {
  constexpr std::size_t least = 3;
  auto const n = points.size();
  auto const count = static_cast<double>(n);
  double best = HUGE_VAL;
  cuts found;
  auto const consider = [&](std::vector<std::size_t> const& at) {
    auto const pieces = static_cast<double>(at.size() - 1);
    double squares = 0;
    for (std::size_t i = 0; i + 1 < at.size(); ++i)
      squares += fit_line(part_of(points, at[i], at[i + 1])).squares;
    // Deviations below a tenth of a percent need no further piece.
    double const seen = std::max(squares, 1e-6 * count);
    // Each piece has two coefficients, and each cut a position. Positions count twice, because the
    // best of all is chosen.
    double const bic = count * std::log(seen / count) + 2 * (3 * pieces - 1) * std::log(count);
    if (!(bic < best)) return;
    best = bic;
    found = {at, std::sqrt(squares / std::max(1.0, count - 2 * pieces))};
  };
  consider({0, n});
  for (std::size_t i = least; i + least <= n; ++i) {
    consider({0, i, n});
    for (std::size_t j = i + least; j + least <= n; ++j) consider({0, i, j, n});
  }
  return found;
}

}  // namespace

double curve::operator()(double bytes) const {
  for (auto const& p : pieces)
    if (bytes < p.to_bytes || &p == &pieces.back()) return p.latency_seconds + bytes * p.gap_seconds_per_byte;
  return 0;
}

curve fit_curve(std::vector<std::pair<double, double>> points) {
  std::erase_if(points, [](auto const& p) { return !(p.second > 0 && p.first >= 0); });
  std::ranges::sort(points);
  curve found;
  if (points.size() < 2) return found;
  auto const best = best_cuts(points);
  found.deviation = best.deviation;
  for (std::size_t i = 0; i + 1 < best.at.size(); ++i) {
    auto const l = fit_line(part_of(points, best.at[i], best.at[i + 1]));
    // The cut lies halfway on the logarithmic scale of sizes.
    double const from = i == 0 ? 0 : found.pieces.back().to_bytes;
    double const to = best.at[i + 1] == points.size()
                          ? std::numeric_limits<double>::infinity()
                          : std::sqrt(points[best.at[i + 1] - 1].first * points[best.at[i + 1]].first);
    found.pieces.push_back({from, to, l.at_zero, l.slope});
  }
  return found;
}

machine machine::assumed() {
  machine m;
  m.name = "assumed";
  m.at = {{.ranks = 0, .latency_seconds = 2e-5, .gap_seconds_per_byte = 1e-9}};
  return m;
}

machine_at machine::for_ranks(int ranks, std::string const& kind, std::string& warning) const {
  machine_at const* below = nullptr;
  machine_at const* above = nullptr;
  std::set<std::string> kinds;
  for (auto const& m : at) {
    kinds.insert(m.kind);
    if (m.kind != kind) continue;
    if (m.ranks <= ranks && (below == nullptr || m.ranks > below->ranks)) below = &m;
    if (m.ranks >= ranks && (above == nullptr || m.ranks < above->ranks)) above = &m;
  }
  if (below == nullptr && above == nullptr) {
    std::string known;
    for (auto const& k : kinds) known += (known.empty() ? "" : ", ") + k;
    throw usage_error(detail::format("machine {}: no entry of kind \"{}\"; known: {}", name, kind, known));
  }
  if (below == nullptr || above == nullptr) {
    auto const& nearest = below == nullptr ? *above : *below;
    if (ranks > 1 && nearest.ranks > 0)  // 0: the entry names no number of ranks
      warning = detail::format("machine {}: measured with {} ranks at {}, used for {}", name, nearest.ranks,
                               below == nullptr ? "least" : "most", ranks);
    return nearest;
  }
  if (below->ranks == above->ranks || below->ranks == 0) return *below;
  double const share = std::log2(static_cast<double>(ranks) / below->ranks) /
                       std::log2(static_cast<double>(above->ranks) / below->ranks);
  machine_at m = *below;
  m.ranks = ranks;
  m.latency_seconds = std::lerp(below->latency_seconds, above->latency_seconds, share);
  m.gap_seconds_per_byte = std::lerp(below->gap_seconds_per_byte, above->gap_seconds_per_byte, share);
  m.all_to_all = between(below->all_to_all, above->all_to_all, share);
  m.ping_pong = between(below->ping_pong, above->ping_pong, share);
  m.exchange = between(below->exchange, above->exchange, share);
  m.timings.clear();
  return m;
}

}  // namespace skel::model
