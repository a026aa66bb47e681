#include "help.hpp"

namespace skel::detail {

void farm_help::handled_results(bool own, std::uint64_t count, double seconds) {
  double const cost = seconds / static_cast<double>(count);
  auto& mean = own ? own_result_cost_ : other_result_cost_;
  double const before = mean.load(std::memory_order_relaxed);  // only one thread at a time handles results
  mean.store(before == 0 ? cost : 0.7 * before + 0.3 * cost, std::memory_order_relaxed);
}

bool farm_help::root_is_at_it(double t) const {
  constexpr double lately = 1e-3;
  return t - own_finished_.load(std::memory_order_relaxed) < lately;
}

bool farm_help::costs_more_than_it_brings(double t) const {
  double const task = task_cost_.load(std::memory_order_relaxed);
  double const own = own_result_cost_.load(std::memory_order_relaxed);
  return task > 0 && own > 0 && other_result_cost_.load(std::memory_order_relaxed) > task + own &&
         root_is_at_it(t);
}

}  // namespace skel::detail
