#include "farm/role/late_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace skel::role {

namespace {
// Seconds by which a copy is expected to finish earlier. A useless copy is not free: its rank leaves the call
// only after it. (Copies on ranks that are merely as fast as the owner halve the speed with one giant task.)
constexpr double least_gain = 1e-3;
// If costs are unknown and exponential, the time a task has run says nothing about its remaining time. With
// heavier tails, or if it runs for longer than its known cost, it is expected to take this many times as long
// in all. (3: the mean of those of a Pareto distribution of shape 1.5.)
constexpr double overdue = 3;
// Ranks that have other tasks copy only what has run for this many times its average cost, or copies of
// ordinary tasks would delay the end.
constexpr double far_longer = 8;
// This many of the fastest ranks are considered for them.
constexpr std::ptrdiff_t most_takers = 64;

// The expected cost of tasks of which `done` has been run.
double expected(task_costs const& costs, task_range const& tasks, double done) {
  double const cost = costs.of(tasks);
  if (costs.known()) return done < cost ? cost : overdue * done;
  return std::max(cost + done, overdue * done);
}

struct late_task {
  rank_id owner = 0;
  begun_range* running = nullptr;
  double cost = 0;     // expected in all, in average tasks
  double seconds = 0;  // expected from now on
};

// The tasks that are very late, the one that ends last first.
std::vector<late_task> late_tasks(
    begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t, double unreported,
    double remaining, detail::function_reference<bool(rank_id, task_range const&)> const& allowed) {
  std::vector<late_task> late;
  for (rank_id r = 0; r < begun.ranks(); ++r) {
    if (begun.of(r).empty()) continue;
    double const speed = loads.speed_of_thread(r);
    double const sure = loads.sure_speed_of_thread(r);
    for (auto& b : begun.of(r)) {
      double const elapsed = std::max(0.0, t - b.since);
      // If several small tasks run as one range, the root does not know which of them is late.
      if (b.tasks.count > 1 || (elapsed - unreported) * sure <= far_longer * costs.of(b.tasks)) continue;
      double const cost = expected(costs, b.tasks, elapsed * speed);
      double const seconds = cost / speed - elapsed;
      if (seconds > remaining && allowed(r, b.tasks)) late.push_back({r, &b, cost, seconds});
    }
  }
  std::sort(late.begin(), late.end(), [](auto const& a, auto const& b) { return a.seconds > b.seconds; });
  return late;
}

// Seconds until a thread of the rank is expected to be free.
double wait_for(rank_id rank, begun_tasks& begun, rank_loads const& loads, task_costs const& costs,
                double t) {
  auto const& running = begun.of(rank);
  if (running.size() < loads.threads(rank)) return 0;
  double const speed = loads.speed_of_thread(rank);
  double least = std::numeric_limits<double>::infinity();
  for (auto const& b : running) {
    double const elapsed = std::max(0.0, t - b.since);
    least = std::min(least, expected(costs, b.tasks, elapsed * speed) / speed - elapsed);
  }
  return least;
}

}  // namespace

std::optional<task_range> copy_for(
    rank_id thief, begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t,
    detail::function_reference<bool(rank_id, task_range const&)> const& allowed) {
  double const mine = loads.speed_of_thread(thief);
  if (mine <= 0) return std::nullopt;
  begun_range* best = nullptr;
  double most = least_gain;
  for (rank_id r = 0; r < begun.ranks(); ++r) {
    if (r == thief || begun.of(r).empty()) continue;
    double const its = loads.speed_of_thread(r);
    for (auto& b : begun.of(r)) {
      double const elapsed = std::max(0.0, t - b.since);
      double const done = elapsed * its;
      double const tasks = expected(costs, b.tasks, done);
      double const gain = tasks / its - elapsed - tasks / mine;
      if (gain <= most || mine <= clearly_faster * b.copier || !allowed(r, b.tasks)) continue;
      best = &b;
      most = gain;
    }
  }
  if (best == nullptr) return std::nullopt;
  best->copier = mine;
  return best->tasks;
}

std::vector<early_copy> early_copies(
    begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t, double unreported,
    double remaining, detail::function_reference<bool(rank_id)> const& computes,
    detail::function_reference<bool(rank_id, task_range const&)> const& allowed) {
  auto const late = late_tasks(begun, loads, costs, t, unreported, remaining, allowed);
  if (late.empty()) return {};
  struct taker {
    rank_id rank = 0;
    double speed = 0;
    double wait = 0;
  };
  std::vector<taker> takers;
  for (rank_id r = 0; r < begun.ranks(); ++r)
    if (double const speed = loads.sure_speed_of_thread(r); speed > 0 && computes(r))
      takers.push_back({r, speed});
  if (std::ssize(takers) > most_takers) {
    auto const end = takers.begin() + most_takers;
    std::nth_element(takers.begin(), end, takers.end(),
                     [](auto const& a, auto const& b) { return a.speed > b.speed; });
    takers.erase(end, takers.end());
  }
  for (auto& at : takers) at.wait = wait_for(at.rank, begun, loads, costs, t);
  std::vector<early_copy> copies;
  for (auto const& l : late) {
    taker* first = nullptr;
    double end = l.seconds - least_gain;
    for (auto& at : takers) {
      double const its = at.wait + l.cost / at.speed;
      if (its >= end || at.rank == l.owner || at.speed <= clearly_faster * l.running->copier) continue;
      first = &at;
      end = its;
    }
    if (first == nullptr) continue;
    first->wait = end;
    l.running->copier = first->speed;
    copies.push_back({first->rank, l.running->tasks.first});
  }
  return copies;
}

}  // namespace skel::role
