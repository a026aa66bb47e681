#include "farm/role/rank_speeds.hpp"

#include <algorithm>
#include <cmath>

namespace skel::role {

namespace {

// What is assumed counts as much as this many tasks.
constexpr double assumed = 10;

// What a rank's power says counts as much as this many of its tasks, if their costs vary as exponential ones
// do: other load changes a known power less than unknown powers differ.
constexpr double tasks_of_power = 16, tasks_of_no_power = 2;
constexpr double fewest_tasks = 1, most_tasks = 256;
// A rank reports the mean of about this many of its latest tasks.
constexpr double reported_tasks = 64;
// A task that is later than by this many times the average one is a long one, on a rank of any speed.
constexpr double most_late = 4;

}  // namespace

// --- task_times

std::size_t task_times::bin_of(double seconds) {
  constexpr double shortest = 1e-9;
  return static_cast<std::size_t>(
      std::clamp(std::ilogb(std::max(shortest, seconds) / shortest), 0, bins - 1));
}

void task_times::add(double seconds, double tasks) {
  if (!(std::isfinite(seconds) && seconds > 0 && tasks > 0)) return;
  if (tasks_ > remembered_) {
    for (auto& b : bins_) b = {b.tasks / 2, b.seconds / 2};
    tasks_ /= 2, seconds_ /= 2, squares_ /= 2;
  }
  double const each = seconds / tasks;
  auto& b = bins_[bin_of(each)];
  b.tasks += tasks;
  b.seconds += seconds;
  tasks_ += tasks;
  seconds_ += seconds;
  squares_ += seconds * each;
}

double task_times::variation() const {
  double const square = mean() * mean();
  return std::max(0.0, (squares_ + assumed * 2 * square) / (tasks_ + assumed) / square - 1);
}

double task_times::excess(double done, double limit) const {
  double const more = std::max(mean(), (overdue - 1) * done);
  double tasks = assumed;
  double seconds = assumed * more * std::exp((done - limit) / more);
  for (auto at = bin_of(done); at < bins_.size(); ++at) {
    auto const& b = bins_[at];
    if (b.seconds <= done * b.tasks) continue;  // they were shorter
    tasks += b.tasks;
    seconds += std::max(0.0, b.seconds - limit * b.tasks);
  }
  return seconds / tasks;
}

// --- rank_speeds

void rank_speeds::joins(rank_id rank, double power) {
  auto& r = ranks_[rank];
  if (!(std::isfinite(power) && power > 0) || r.power > 0) return;
  r.power = power;
  powers_ += power;
  ++with_power_;
}

void rank_speeds::told(rank_id rank, double cost) {
  if (times_.empty()) took(rank, 1, cost);
  ranks_[rank].cost = cost;
}

void rank_speeds::lost(rank_id rank) {
  auto& r = ranks_[rank];
  r = {.power = r.power};
}

double rank_speeds::power(rank_id rank) const {
  if (ranks_[rank].power > 0) return ranks_[rank].power;
  return with_power_ == 0 ? 1 : powers_ / static_cast<double>(with_power_);
}

// The speed of a thread of the rank relative to one of power 1. `late`: seconds by which a running task is
// late.
double rank_speeds::pace(rank_id rank, double late) const {
  auto const& r = ranks_[rank];
  double const unit = r.power > 0 ? tasks_of_power : tasks_of_no_power;
  double const sure = std::clamp(unit * times_.variation(), fewest_tasks, most_tasks);
  auto const all = std::max(1.0, static_cast<double>(r.finished));
  double const n = r.cost > 0 ? std::min(reported_tasks, all) : 0;
  double const units = n * (1 + std::max(0.0, r.longer) / all);
  return (sure + units) / (sure / power(rank) + (n * r.cost + late) / times_.mean());
}

void rank_speeds::took(rank_id rank, double cost, double seconds) {
  times_.add(seconds * (ranks_[rank].power > 0 ? ranks_[rank].power : pace(rank, 0)), cost);
}

double rank_speeds::of_thread(rank_id rank, double cost, double seconds) const {
  double const speed = of_thread(rank);
  double const late = std::min(seconds - cost / speed, most_late * times_.mean());
  return late > 0 ? pace(rank, late) / times_.mean() : speed;
}

double rank_speeds::excess(double done, double limit) const {
  double const mean = times_.mean();
  return times_.excess(done * mean, limit * mean) / mean;
}

}  // namespace skel::role
