#include "farm/role/grant_sizes.hpp"

#include <algorithm>

#include "protocol/deal.hpp"

namespace skel::role {

namespace {
// Grants after which the limit, which grows fourfold each time, no longer applies.
constexpr unsigned limited_grants = 16;

// The rank's share, by speed, of half of the remaining tasks, so that a grant takes at most half of the
// remaining time. A rank of unknown speed gets the few tasks that it asks for, which cover a round trip.
std::uint64_t adaptive(double share, std::uint64_t wanted, task_pool const& pool) {
  auto const part = 0.5 * static_cast<double>(pool.tasks()) * share;
  return std::min(pool.tasks(), std::max(wanted, static_cast<std::uint64_t>(part)));
}
}  // namespace

grant_sizes::grant_sizes(farm_root_config const& config)
    : policy_(config.policy),
      first_grant_(config.first_grant),
      root_(config.root),
      costs_(config.list.costs),
      costly_(config.list.costly),
      grants_(config.ranks) {}

std::vector<range_list> grant_sizes::shares(std::vector<rank_id> const& takers, range_list const& left,
                                            compute_ranks const& ranks) const {
  std::vector<range_list> shares;
  auto const all = count_tasks(left);
  auto const n = static_cast<int>(takers.size());
  auto const costs = costs_.known() ? costs_.of_these(left) : task_costs();
  if (policy_.start == schedule::start_with::weighted) {
    std::vector<double> power;
    for (rank_id const rank : takers) {
      auto const at = static_cast<std::size_t>(rank);
      double const chosen = at < policy_.power.size() ? policy_.power[at] : 0;
      double const measured = ranks.power(rank) > 0 ? ranks.power(rank) : 1.0;
      power.push_back(chosen > 0 ? chosen : measured * static_cast<double>(ranks.threads(rank)));
    }
    shares = weighted_shares(policy_.cut.of(all), power, costs);
  } else {
    for (int k = 0; k < n; ++k) shares.push_back(known_share(policy_, all, n, k, costs));
  }
  for (auto& s : shares) s = at_positions(left, s);
  return shares;
}

// A window has a place for each thread, and each rank has its part of the others: a rank that asks ahead must
// not take the place for which the thread of another one waits.
std::uint64_t grant_sizes::most(rank_id rank, std::uint64_t held, task_pool const& pool,
                                rank_loads const& loads, compute_ranks const& ranks) {
  if (pool.window() == 0) return pool.tasks();
  auto const own = ranks.threads(rank);
  auto const threads = static_cast<double>(std::max(1, ranks.all_threads()));
  auto const known = loads.share(rank, ranks.computing());
  auto const part = known > 0 ? known : static_cast<double>(own) / threads;
  auto const more = std::max(0.0, static_cast<double>(pool.window()) - threads) * part;
  auto const most = static_cast<std::uint64_t>(own) + static_cast<std::uint64_t>(more);
  return most > held ? std::min(most - held, pool.places()) : 0;
}

// Returns how many tasks cost no more than `n` tasks of the pool's average cost: fewer, if the most costly
// ones come first.
std::uint64_t grant_sizes::of_average_cost(std::uint64_t n, task_pool const& pool) const {
  double all = 0;
  for (auto const& r : pool.ranges()) all += costs_.of(r);
  double rest = all * static_cast<double>(n) / static_cast<double>(pool.tasks());
  std::uint64_t fitting = 0;
  for (auto const& r : pool.ranges()) {
    auto const these = costs_.fitting(r, rest);
    fitting += these;
    rest -= costs_.of({r.first, these, r.stride});
    if (these < r.count) break;
  }
  return std::min(n, fitting);
}

std::uint64_t grant_sizes::next(rank_id rank, std::uint64_t wanted, task_pool const& pool,
                                rank_loads const& loads, compute_ranks const& ranks) {
  bool const fixed = policy_.size == schedule::grant_size::fixed;
  auto n = policy_.size == schedule::grant_size::adaptive
               ? adaptive(loads.share(rank, ranks.computing()), wanted, pool)
               : next_grant(policy_, pool.tasks(), wanted, static_cast<int>(ranks.threads(rank)),
                            ranks.all_threads());
  if (pool.ranges().front().first < costly_)
    n = 1;
  else if (!fixed && costs_.known() && n > wanted)
    n = std::max(wanted, of_average_cost(n, pool));
  auto& grants = grants_[rank];
  if (!fixed && first_grant_ > 0 && rank != root_ && grants < limited_grants)
    n = std::min(n, std::max(wanted, first_grant_ << (2 * grants)));
  ++grants;
  return n;
}

}  // namespace skel::role
