// How many tasks of a farm a rank gets.
#pragma once

#include <tuple>
#include <vector>

#include "farm/role/compute_ranks.hpp"
#include "farm/role/rank_loads.hpp"
#include "farm/role/root_config.hpp"
#include "farm/role/task_pool.hpp"

namespace skel::role {

/// Follows the farm's policy. A regular value, part of farm_dealer.
class grant_sizes {
 public:
  grant_sizes() = default;
  explicit grant_sizes(farm_root_config const& config);

  /// The parts of `left` that are dealt to these ranks at the start. The other tasks, which are the last
  /// ones, are granted on request.
  [[nodiscard]] std::vector<range_list> shares(std::vector<rank_id> const& takers, range_list const& left,
                                               compute_ranks const& ranks) const;
  /// The next grant to a rank that wants `wanted` tasks, of those in the pool.
  [[nodiscard]] std::uint64_t next(rank_id rank, std::uint64_t wanted, task_pool const& pool,
                                   rank_loads const& loads, compute_ranks const& ranks);
  /// The most that the window allows a rank that holds `held` tasks.
  [[nodiscard]] static std::uint64_t most(rank_id rank, std::uint64_t held, task_pool const& pool,
                                          rank_loads const& loads, compute_ranks const& ranks);
  /// Relative costs of all tasks, 1 on average.
  [[nodiscard]] task_costs const& costs() const { return costs_; }
  friend bool operator==(grant_sizes const&, grant_sizes const&) = default;
  auto fields() const { return std::tie(grants_); }

 private:
  [[nodiscard]] std::uint64_t of_average_cost(std::uint64_t n, task_pool const& pool) const;

  farm_policy policy_;
  std::uint64_t first_grant_ = 0;
  rank_id root_ = 0;
  task_costs costs_;
  std::uint64_t costly_ = 0;
  by_rank<unsigned> grants_;
};

}  // namespace skel::role
