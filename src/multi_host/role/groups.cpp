#include "multi_host/role/groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace skel {

namespace {

// Cuts [0, n) into `parts` parts of about equal weight, with at least one item each. `weight(i)` is that of
// item i.
template <class Weight>
std::vector<std::uint64_t> cuts(std::uint64_t n, std::uint64_t parts, Weight weight) {
  double total = 0;
  for (std::uint64_t i = 0; i < n; ++i) total += weight(i);
  std::vector<std::uint64_t> at{0};
  double sum = 0;
  std::uint64_t i = 0;
  for (std::uint64_t k = 1; k < parts; ++k) {
    double const goal = total * static_cast<double>(k) / static_cast<double>(parts);
    std::uint64_t const most = n - (parts - k);
    do sum += weight(i++);
    while (i < most && sum + weight(i) / 2 <= goal);
    at.push_back(i);
  }
  at.push_back(n);
  return at;
}

}  // namespace

std::vector<group_plan> form_groups(std::span<double const> power, unsigned size, std::uint64_t first_unit,
                                    std::uint64_t end_unit) {
  std::uint64_t const units = end_unit - first_unit;
  if (units == 0 || power.empty()) return {};
  auto const groups =
      std::min<std::uint64_t>(units, std::max<std::uint64_t>(1, power.size() / std::max(1U, size)));
  auto const ranks = cuts(power.size(), groups, [&](std::uint64_t i) { return power[i]; });
  double const all = std::accumulate(power.begin(), power.end(), 0.0);
  std::vector<group_plan> plan;
  double sum = 0;
  std::uint64_t at = first_unit;
  for (std::uint64_t g = 0; g < groups; ++g) {
    for (auto i = ranks[g]; i < ranks[g + 1]; ++i) sum += power[i];
    auto end = first_unit + static_cast<std::uint64_t>(std::llround(static_cast<double>(units) * sum / all));
    end = g + 1 == groups ? end_unit : std::clamp(end, at + 1, end_unit - (groups - g - 1));
    auto const begin = power.begin() + static_cast<std::ptrdiff_t>(ranks[g]);
    auto const strongest = std::max_element(begin, power.begin() + static_cast<std::ptrdiff_t>(ranks[g + 1]));
    plan.push_back({static_cast<int>(ranks[g]), static_cast<int>(ranks[g + 1] - ranks[g]),
                    static_cast<int>(strongest - power.begin()), at, end});
    at = end;
  }
  return plan;
}

std::vector<std::uint64_t> proportional(std::uint64_t n, std::span<std::uint64_t const> weights) {
  std::vector<std::uint64_t> parts(weights.size());
  auto const sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (sum == 0) return parts;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t dealt = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) dealt += parts[i] = n * weights[i] / sum;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return n * weights[a] % sum > n * weights[b] % sum; });
  for (std::size_t k = 0; dealt < n; ++k, ++dealt) ++parts[order[k % order.size()]];
  return parts;
}

std::uint64_t units_to_let_go(share_to_split const& share) {
  if (share.untouched < 2 || !(share.power > 0)) return 0;
  double const part = share.power / (share.power + share.own_power);
  auto const fair = static_cast<std::uint64_t>(share.left * part);
  auto const units = std::min(fair, share.untouched);
  return units < share.ranks ? 0 : units;
}

double group_seconds(unit_times const& times, int ranks, unsigned size, std::uint64_t units, unsigned history,
                     bool reassigns) {
  if (units == 0) return 0;
  auto const groups = std::min<std::uint64_t>(
      units, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ranks) / std::max(1U, size)));
  double const n = static_cast<double>(ranks) / static_cast<double>(groups);
  double const even = static_cast<double>(units) / static_cast<double>(groups);
  constexpr double shared_too_late = 0.5;  // of a unit, see the root
  double q = std::ceil(even);
  if (reassigns) q = std::min(q, even + shared_too_late);
  double const send = times.send_seconds * (n - 1) / n;  // the host sends nothing to itself
  double const first = times.read_seconds * (groups > 1 ? history + 1 : 1);
  double const later = times.read_seconds * std::max(0.0, q - 1);
  return first + std::max(later + q * send, (later + q * (times.compute_seconds + send)) / n);
}

unsigned best_group_size(unit_times const& times, int ranks, std::uint64_t units, unsigned history,
                         bool reassigns) {
  unsigned best = 1;
  double least = group_seconds(times, ranks, 1, units, history, reassigns);
  for (unsigned size = 2; size <= static_cast<unsigned>(std::max(1, ranks)); ++size) {
    double const seconds = group_seconds(times, ranks, size, units, history, reassigns);
    constexpr double noise = 1e-9;
    if (seconds >= least * (1 - noise)) continue;
    least = seconds;
    best = size;
  }
  return best;
}

}  // namespace skel
