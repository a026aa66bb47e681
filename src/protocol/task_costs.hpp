// What tasks cost, for shares of equal cost rather than of equal number.
#pragma once

#include <cstdint>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel {

/// Costs of the tasks 0, 1, 2, ... A regular value.
class task_costs {
 public:
  /// Unknown: every task costs the same.
  task_costs() = default;
  /// `each`: of every task, at least 0, with a finite sum.
  explicit task_costs(std::vector<double> const& each);

  [[nodiscard]] bool known() const { return !before_.empty(); }
  [[nodiscard]] double of(task_range const& tasks) const;
  /// How many of the first tasks cost at most `most` together.
  [[nodiscard]] std::uint64_t fitting(task_range const& tasks, double most) const;
  /// The costs of these tasks, numbered from 0. Only if known.
  [[nodiscard]] task_costs of_these(range_list const& tasks) const;
  friend bool operator==(task_costs const&, task_costs const&) = default;

 private:
  std::vector<double> before_;  // the sum over all tasks before each, and that over all
};

}  // namespace skel
