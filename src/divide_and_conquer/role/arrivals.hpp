// Which ranks of a divide_and_conquer call have their results.
#pragma once

#include <set>
#include <tuple>

#include "divide_and_conquer/role/action.hpp"
#include "divide_and_conquer/role/groups.hpp"
#include "divide_and_conquer/role/problems.hpp"
#include "divide_and_conquer/role/solutions.hpp"
#include "protocol/membership.hpp"

namespace skel::role {

/// Every rank reports its result to the root, which completes the call. A regular value.
class arrivals {
 public:
  /// On the root: all ranks of the group have their results.
  void reached(rank_span group) {
    for (rank_id r = group.first; r < group.last; ++r) reached_.insert(r);
  }
  /// Reports the result of this rank once it is there. On the root: completes the call.
  void check(divide_groups const& groups, held_solutions const& solutions, held_problems const& problems,
             membership const& lost, divide_actions& out);
  /// On the root: rank `rank` has reported that it has its result.
  [[nodiscard]] bool has(rank_id rank) const { return reached_.contains(rank); }
  [[nodiscard]] bool complete() const { return complete_; }
  friend bool operator==(arrivals const&, arrivals const&) = default;
  auto fields() const { return std::tie(reached_, reported_, complete_); }

 private:
  std::set<rank_id> reached_;
  bool reported_ = false;
  bool complete_ = false;
};

}  // namespace skel::role
