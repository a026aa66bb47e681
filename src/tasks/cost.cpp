#include "cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

std::vector<double> costs_of(std::function<double(task_id)> const& cost, std::uint64_t tasks) {
  std::vector<double> all;
  all.reserve(tasks);
  double sum = 0;
  for (task_id id = 0; id < tasks; ++id) {
    double const c = cost(id);
    if (!(c >= 0 && std::isfinite(c)))
      throw usage_error(
          detail::format("farm: task {} has the cost {}, expected a finite number of at least 0", id, c));
    sum += c;
    all.push_back(c);
  }
  if (!std::isfinite(sum))
    throw usage_error("farm: the sum of all costs is too large, expected a finite number");
  for (auto& c : all) c = sum > 0 ? c / sum * static_cast<double>(tasks) : 1;
  return all;
}

std::vector<task_id> by_cost(std::vector<double> const& costs) {
  std::vector<task_id> order(costs.size());
  std::iota(order.begin(), order.end(), task_id{0});
  std::stable_sort(order.begin(), order.end(), [&](task_id a, task_id b) { return costs[a] > costs[b]; });
  return order;
}

}  // namespace skel::detail
