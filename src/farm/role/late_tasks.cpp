#include "farm/role/late_tasks.hpp"

#include <algorithm>

namespace skel::role {

namespace {
// Seconds by which a copy is expected to finish earlier. A useless copy is not free: its rank leaves the call
// only after it. (Copies on ranks that are merely as fast as the owner halve the speed with one giant task.)
constexpr double least_gain = 1e-3;
// If costs are unknown and exponential, the time a task has run says nothing about its remaining time. With
// heavier tails, or if it runs for longer than its known cost, it is expected to take this many times as long
// in all.
constexpr double overdue = 2;

// The expected cost of tasks of which `done` has been run.
double expected(task_costs const& costs, task_range const& tasks, double done) {
  double const cost = costs.of(tasks);
  if (costs.known()) return done < cost ? cost : overdue * done;
  return std::max(cost + done, overdue * done);
}
}  // namespace

std::optional<task_range> copy_for(
    std::size_t thief, begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t,
    detail::function_reference<bool(std::size_t, task_range const&)> const& allowed) {
  double const mine = loads.speed_of_thread(thief);
  if (mine <= 0) return std::nullopt;
  begun_range* best = nullptr;
  double most = least_gain;
  for (std::size_t i = 0; i < begun.ranks(); ++i) {
    if (i == thief || begun.of(i).empty()) continue;
    double const its = loads.speed_of_thread(i);
    for (auto& b : begun.of(i)) {
      double const elapsed = std::max(0.0, t - b.since);
      double const done = elapsed * its;
      double const tasks = expected(costs, b.tasks, done);
      double const gain = tasks / its - elapsed - tasks / mine;
      if (gain <= most || mine <= clearly_faster * b.copier || !allowed(i, b.tasks)) continue;
      best = &b;
      most = gain;
    }
  }
  if (best == nullptr) return std::nullopt;
  best->copier = mine;
  return best->tasks;
}

}  // namespace skel::role
