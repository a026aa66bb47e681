// What the tasks of a farm cost (farm_options::per_task::cost), and the order in which they begin.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// The cost of each of `tasks` tasks, in units of the average one. Throws usage_error for a cost that is
/// negative or not finite, or if the sum is not finite, and what `cost` throws.
[[nodiscard]] std::vector<double> costs_of(std::function<double(task_id)> const& cost, std::uint64_t tasks);

/// The tasks, the most costly one first; those of equal cost in the order of their numbers.
[[nodiscard]] std::vector<task_id> by_cost(std::vector<double> const& costs);

}  // namespace skel::detail
