#include "farm/role/late_tasks.hpp"

#include <algorithm>

#include "farm/role/begun_tasks.hpp"

namespace skel::role {

namespace {
// Seconds by which a copy must finish earlier, since it costs messages.
constexpr double least_gain = 1e-3;
// The time a task has run says nothing about its remaining time, as with exponential costs; but one that has
// run for long is expected to run this many times as long in all.
constexpr double overdue = 2;
}  // namespace

void late_tasks::add(std::size_t index, task_range const& range, double t) {
  ranks_[index].push_back({range, t, 0});
}

void late_tasks::given(std::size_t index, std::size_t threads, range_list const& tasks, double t) {
  auto& running = ranks_[index];
  for (auto const& r : tasks)
    for (std::uint64_t i = 0; i < r.count && running.size() < threads; ++i) add(index, {r[i], 1, 1}, t);
}

void late_tasks::results(std::size_t index, std::size_t threads, range_list const& done,
                         range_list const& begun, double t) {
  auto& running = ranks_[index];
  // A thread's range is done when its last task is.
  std::erase_if(running, [&](run const& r) { return any_contains(done, r.range.last()); });
  for (auto const& r : begun) add(index, r, t);
  if (running.size() > threads)  // older ones are finished or were guesses
    running.erase(running.begin(), running.end() - static_cast<std::ptrdiff_t>(threads));
}

void late_tasks::all(std::size_t index, range_list const& running, double t) {
  auto before = std::exchange(ranks_[index], {});
  for (auto const& r : running) {
    auto const at =
        std::find_if(before.begin(), before.end(), [&](run const& b) { return b.range.last() == r.last(); });
    if (at == before.end())
      add(index, r, t);
    else
      ranks_[index].push_back({r, at->since, at->best});
  }
}

std::optional<task_range> late_tasks::copy_for(std::size_t thief, rank_loads const& loads, double t,
                                               std::function<bool(std::size_t, task_id)> const& allowed) {
  double const mine = loads.speed_of_thread(thief);
  if (mine <= 0) return std::nullopt;
  run* best = nullptr;
  double most = least_gain;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (i == thief) continue;
    double const its = loads.speed_of_thread(i);
    for (auto& r : ranks_[i]) {
      double const elapsed = std::max(0.0, t - r.since);
      double const done = elapsed * its;
      double const tasks = std::max(static_cast<double>(r.range.count) + done, overdue * done);
      double const gain = tasks / its - elapsed - tasks / mine;
      if (gain <= most || mine <= 1.2 * r.best || !allowed(i, r.range.last())) continue;
      best = &r;
      most = gain;
    }
  }
  if (best == nullptr) return std::nullopt;
  best->best = mine;
  return best->range;
}

void late_tasks::hash(digest& d) const {
  for (auto const& running : ranks_) {
    for (auto const& r : running) d.add(r.range.last()).add(r.best > 0);
    d.add(running.size());
  }
}

}  // namespace skel::role
