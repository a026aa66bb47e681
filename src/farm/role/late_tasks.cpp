#include "farm/role/late_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace skel::role {

namespace {
// Seconds by which a copy is expected to finish earlier. A useless copy is not free: its rank leaves the call
// only after it. (Copies on ranks that are merely as fast as the owner halve the speed with one giant task.)
constexpr double least_gain = 1e-3;
// The same, divided by the expected time of the copy.
constexpr double least_relative_gain = 0.05, least_gain_on_root = 0.6;
// Ranks that have other tasks copy only what has run for this many times its average cost, or copies of
// ordinary tasks would delay the end.
constexpr double far_longer = 8;
// This many of the fastest ranks are considered for them.
constexpr std::ptrdiff_t most_takers = 64;

struct forecast {
  double cost = 0;     // in all, in average tasks
  double seconds = 0;  // from now on, on the rank or on the one that has a copy
};

// The expected cost beyond `limit` of tasks of which `done` has been run.
double excess(rank_loads const& loads, task_costs const& costs, task_range const& tasks, double done,
              double limit) {
  if (!costs.known() && tasks.count == 1) return loads.speeds().excess(done, limit);
  double const cost = costs.of(tasks);
  if (costs.known()) return std::max(0.0, (done < cost ? cost : overdue * done) - limit);
  return std::max(0.0, std::max(cost + done, overdue * done) - limit);
}

// A thread that runs tasks, of which `done` has been run, for `elapsed` seconds.
struct runner {
  double speed = 0;
  double elapsed = 0;
  // Seconds by which a thread of speed `other` that begins now is expected to end earlier. If it ends later,
  // this does no harm, or, if the call waits for it, counts as well.
  [[nodiscard]] double gain(double other, double done, bool awaited, auto const& excess) const {
    if (other <= speed) return 0;
    double const longer = 1 / speed - 1 / other;
    double const even = std::max(done, elapsed / longer);  // with this cost, both end at the same time
    return (awaited ? done + excess(done, done) - even : excess(done, even)) * longer;
  }
};

runner runner_of(rank_id rank, double since, rank_loads const& loads, double cost, double t) {
  double const elapsed = t - since;  // negative if it begins later
  return {loads.speeds().of_thread(rank, cost, elapsed), elapsed};
}

// A task that runs, and perhaps a copy.
struct running_task {
  runner owner;
  std::optional<runner> copier;
  double done = 0;
};

running_task look_at(rank_id rank, begun_range const& b, rank_loads const& loads, task_costs const& costs,
                     double t) {
  double const cost = costs.of(b.tasks);
  running_task r{runner_of(rank, std::min(t, b.since), loads, cost, t), {}, 0};
  if (b.copier) r.copier = runner_of(*b.copier, b.copied, loads, cost, t);
  r.done = r.owner.elapsed * r.owner.speed;
  if (r.copier) r.done = std::max(r.done, r.copier->elapsed * r.copier->speed);
  return r;
}

forecast forecast_of(rank_id rank, begun_range const& b, rank_loads const& loads, task_costs const& costs,
                     double t) {
  auto const r = look_at(rank, b, loads, costs, t);
  double const cost = r.done + excess(loads, costs, b.tasks, r.done, r.done);
  double const seconds = cost / r.owner.speed - r.owner.elapsed;
  return {cost, r.copier ? std::min(seconds, cost / r.copier->speed - r.copier->elapsed) : seconds};
}

struct late_task {
  rank_id owner = 0;
  begun_range* running = nullptr;
  forecast end;
};

// The tasks that are very late, the one that ends last first.
std::vector<late_task> late_tasks(
    begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t, double unreported,
    double remaining, detail::function_reference<bool(rank_id, task_range const&)> const& allowed) {
  std::vector<late_task> late;
  for (rank_id r = 0; r < begun.ranks(); ++r)
    for (auto& b : begun.of(r)) {
      double const elapsed = std::max(0.0, t - b.since);
      double const cost = costs.of(b.tasks);
      // If several small tasks run as one range, the root does not know which of them is late.
      if (b.tasks.count > 1 || b.copy ||
          (elapsed - unreported) * loads.speeds().of_thread(r, cost, elapsed) <= far_longer * cost)
        continue;
      auto const end = forecast_of(r, b, loads, costs, t);
      if (end.seconds > remaining && allowed(r, b.tasks)) late.push_back({r, &b, end});
    }
  std::sort(late.begin(), late.end(),
            [](auto const& a, auto const& b) { return a.end.seconds > b.end.seconds; });
  return late;
}

}  // namespace

void measure_running(begun_tasks& begun, rank_loads& loads, double t) {
  double all = 0;
  for (rank_id r = 0; r < begun.ranks(); ++r)
    for (auto const& b : begun.of(r))
      if (!b.copy) all += std::max(0.0, t - b.since) * loads.speeds().power(r);
  loads.speeds().running(all);
}

double wait_for(rank_id rank, begun_tasks& begun, rank_loads const& loads, task_costs const& costs,
                double t) {
  auto const& running = begun.of(rank);
  if (running.size() < loads.threads(rank)) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (auto const& b : running) least = std::min(least, forecast_of(rank, b, loads, costs, t).seconds);
  return least;
}

std::optional<late_copy> copy_for(
    rank_id thief, begun_tasks& begun, rank_loads const& loads, task_costs const& costs, double t,
    bool awaited, detail::function_reference<bool(rank_id, task_range const&)> const& allowed) {
  double const mine = loads.speeds().of_thread(thief);
  begun_range* best = nullptr;
  double cost = 0;
  double most = least_gain;
  for (rank_id r = 0; r < begun.ranks(); ++r) {
    if (r == thief) continue;
    for (auto& b : begun.of(r)) {
      if (b.copy) continue;
      auto const task = look_at(r, b, loads, costs, t);
      auto const beyond = [&](double done, double limit) {
        return excess(loads, costs, b.tasks, done, limit);
      };
      double gain = task.owner.gain(mine, task.done, awaited, beyond);
      if (task.copier) gain = std::min(gain, task.copier->gain(mine, task.done, awaited, beyond));
      if (gain <= most) continue;
      double const all = task.done + beyond(task.done, task.done);
      if (gain < (awaited ? least_gain_on_root : least_relative_gain) * all / mine || !allowed(r, b.tasks))
        continue;
      best = &b;
      cost = all;
      most = gain;
    }
  }
  if (best == nullptr) return std::nullopt;
  best->copier = thief;
  best->copied = t;
  return late_copy{best->tasks, cost};
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
    if (computes(r)) takers.push_back({r, loads.speeds().of_thread(r)});
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
    double end = l.end.seconds - least_gain;
    for (auto& at : takers) {
      double const its = at.wait + l.end.cost / at.speed;
      if (its >= end || at.rank == l.owner ||
          (l.running->copier && at.speed <= clearly_faster * loads.speeds().of_thread(*l.running->copier)))
        continue;
      first = &at;
      end = its;
    }
    if (first == nullptr) continue;
    l.running->copier = first->rank;
    l.running->copied = t + first->wait;
    first->wait = end;
    copies.push_back({first->rank, l.running->tasks.first});
  }
  return copies;
}

}  // namespace skel::role
