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

}  // namespace skel::role
