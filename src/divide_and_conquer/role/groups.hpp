// Assigns the work of a divide_and_conquer call: which rank makes what, and which ranks get the result.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/membership.hpp"
#include "protocol/outcome.hpp"
#include "skel/placement.hpp"

namespace skel::role {

using division::placement;

struct divide_config {
  rank_id self = 0;
  int ranks = 1;  ///< rank 0 is the root
  placement from = placement::on_root;
  placement to = placement::everywhere;
  std::uint64_t call_hash = 0;
};

/// The groups of ranks halve. The rank that divides a group's problem keeps one half for its own
/// group and sends the other half to the first rank of the other group. On the way back, ranks at
/// the same position of two groups exchange solutions (`everywhere`), or the first rank of one
/// sends to the first rank of the other (`on_root`). [Hyper, §3, §5]
///
/// Knows the groups, but not which problems and solutions exist.
class divide_groups {
 public:
  divide_groups() = default;
  explicit divide_groups(divide_config config) : config_(config) {}

  [[nodiscard]] divide_config const& config() const { return config_; }
  [[nodiscard]] rank_span everybody() const { return {0, config_.ranks}; }
  /// The largest group whose first rank is this rank. Its problem is sent to this rank.
  [[nodiscard]] rank_span led() const;
  /// The group whose solution this rank must end with.
  [[nodiscard]] rank_span target() const;
  /// Whether this rank makes the solution of `s` when no rank is lost.
  [[nodiscard]] bool makes(rank_span s) const;
  /// Whether this rank divides the problem of `s` when no rank is lost.
  [[nodiscard]] bool divides(rank_span s) const;
  /// Whether the work belongs to `rank` if no rank is lost. A problem that `rank` may either divide
  /// or solve counts as both.
  [[nodiscard]] bool works_on(rank_id rank, group_work work) const;
  /// The ranks that wait for this rank's solution of `s`, a group that this rank belongs to.
  [[nodiscard]] std::vector<rank_id> waiting_for(rank_span s) const;
  /// The living rank that has or makes the solution of `s` and sends it to this rank.
  [[nodiscard]] std::optional<rank_id> source_of_solution(rank_span s, membership const& lost) const;
  /// Whether `from` sends the solution of `s` to this rank without a request.
  [[nodiscard]] bool solution_comes_unasked(rank_span s, rank_id from) const;
  /// The nearest living ancestor of `s` that has divided its problem; finally the root.
  [[nodiscard]] rank_id source_of_problem(rank_span s, membership const& lost) const;

 private:
  divide_config config_;
};

}  // namespace skel::role
