#include "farm/role/rank_loads.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skel::role {

void rank_loads::joins(rank_id rank, std::uint64_t threads, double power) {
  ranks_[rank].threads = std::max<std::uint64_t>(1, threads);
  speeds_.joins(rank, power);
}

// Orders the victims.
std::pair<double, rank_id> rank_loads::key_of(rank_id rank) const {
  auto const& r = ranks_[rank];
  auto const n = static_cast<double>(r.waiting);
  return {-(r.speed > 0 ? n / r.speed : n), rank};
}

void rank_loads::enter(rank_id rank) {
  auto const& r = ranks_[rank];
  if (sorted_ && r.waiting > 0) (r.speed > 0 ? known_victims_ : unknown_victims_).insert(key_of(rank));
}

void rank_loads::leave(rank_id rank) {
  auto const& r = ranks_[rank];
  if (sorted_ && r.waiting > 0) (r.speed > 0 ? known_victims_ : unknown_victims_).erase(key_of(rank));
}

void rank_loads::set_waiting(rank_id rank, std::uint64_t tasks) {
  auto& now = ranks_[rank].waiting;
  if (tasks == now) return;
  leave(rank);
  all_waiting_ += tasks - now;
  now = tasks;
  enter(rank);
}

void rank_loads::set_speed(rank_id rank, double speed) {
  auto& now = ranks_[rank].speed;
  leave(rank);
  known_ += speed > 0 ? 1U : 0U;
  known_ -= now > 0 ? 1U : 0U;
  known_speed_ = known_ == 0 ? 0 : known_speed_ + speed - now;
  now = speed;
  enter(rank);
}

void rank_loads::set_busy(rank_id rank) {
  auto& r = ranks_[rank];
  r.seeks = false;
  if (!r.idle) return;
  r.idle = false;
  std::erase(idle_, rank);
}

void rank_loads::granted(rank_id rank, std::uint64_t tasks) {
  set_waiting(rank, ranks_[rank].waiting + tasks);
  set_busy(rank);
}

void rank_loads::told(rank_id rank, farm::load const& here) {
  set_waiting(rank, here.waiting);
  if (!(std::isfinite(here.cost) && here.cost > 0)) return;
  speeds_.told(rank, here.cost);
  set_speed(rank, speed(rank));
}

void rank_loads::lost(rank_id rank) {
  set_waiting(rank, 0);
  set_speed(rank, 0);
  set_busy(rank);
  speeds_.lost(rank);
}

void rank_loads::found_empty(rank_id rank) { set_waiting(rank, 0); }

void rank_loads::moves(rank_id victim, rank_id thief, std::uint64_t tasks) {
  auto const n = std::min(tasks, ranks_[victim].waiting);
  set_waiting(victim, ranks_[victim].waiting - n);
  set_busy(thief);
}

void rank_loads::waits_in_vain(rank_id rank) {
  auto& r = ranks_[rank];
  if (!r.seeks || r.idle) return;
  r.idle = true;
  idle_.push_back(rank);
}

double rank_loads::speed(rank_id rank) const {
  return speeds_.of_thread(rank) * static_cast<double>(ranks_[rank].threads);
}

// The known speeds, and for each other rank their mean.
double rank_loads::all_speeds(std::size_t computing) const {
  double const mean = known_speed_ / static_cast<double>(known_);
  return known_speed_ + (computing > known_ ? mean * static_cast<double>(computing - known_) : 0);
}

double rank_loads::share(rank_id rank, std::size_t computing) const {
  return ranks_[rank].speed <= 0 ? 0 : ranks_[rank].speed / all_speeds(computing);
}

double rank_loads::remaining(std::uint64_t tasks, std::size_t computing) const {
  return known_ == 0 ? 0 : static_cast<double>(tasks + all_waiting_) / all_speeds(computing);
}

// The rank other than `thief` whose waiting tasks take longest, of several the first.
std::optional<rank_id> rank_loads::longest_but(rank_id thief) {
  if (!std::exchange(sorted_, true))
    for (rank_id r = 0; r < ranks_.ranks(); ++r) enter(r);
  std::optional<std::pair<double, rank_id>> longest;
  for (auto const* all : {&known_victims_, &unknown_victims_}) {
    auto at = all->begin();
    if (at != all->end() && at->second == thief) ++at;
    if (at == all->end()) continue;
    std::pair const key{-static_cast<double>(ranks_[at->second].waiting) / speed(at->second), at->second};
    if (!longest || key < *longest) longest = key;
  }
  if (!longest) return std::nullopt;
  return longest->second;
}

std::optional<rank_loads::theft> rank_loads::theft_for(rank_id thief) {
  if (all_waiting_ == 0) return std::nullopt;
  auto const longest = longest_but(thief);
  if (!longest) return std::nullopt;
  auto const& victim = ranks_[*longest];
  double const mine = speed(thief);
  double const its = speed(*longest);
  double const part = mine + its > 0 ? mine / (mine + its) : 0.5;
  // Running tasks are half done on average.
  auto const all = static_cast<double>(victim.waiting) + 0.5 * static_cast<double>(victim.threads);
  auto const tasks = std::min(victim.waiting, static_cast<std::uint64_t>(std::lround(all * part)));
  if (tasks == 0) return std::nullopt;
  return theft{*longest, tasks};
}

// --- rank_speeds

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
