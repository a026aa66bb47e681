#include "farm/role/rank_loads.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skel::role {

void rank_loads::has_threads(std::size_t index, std::uint64_t threads) {
  ranks_[index].threads = std::max<std::uint64_t>(1, threads);
}

namespace {
// Of rank_loads::victims.
std::pair<double, std::size_t> key_of(std::uint64_t waiting, double speed, std::size_t index) {
  auto const n = static_cast<double>(waiting);
  return {-(speed > 0 ? n / speed : n), index};
}
}  // namespace

void rank_loads::enter(std::size_t index) {
  auto const& r = ranks_[index];
  if (sorted_ && r.waiting > 0)
    (r.speed > 0 ? known_victims_ : unknown_victims_).insert(key_of(r.waiting, r.speed, index));
}

void rank_loads::leave(std::size_t index) {
  auto const& r = ranks_[index];
  if (sorted_ && r.waiting > 0)
    (r.speed > 0 ? known_victims_ : unknown_victims_).erase(key_of(r.waiting, r.speed, index));
}

void rank_loads::set_waiting(std::size_t index, std::uint64_t tasks) {
  auto& now = ranks_[index].waiting;
  if (tasks == now) return;
  leave(index);
  all_waiting_ += tasks - now;
  now = tasks;
  enter(index);
}

void rank_loads::set_speed(std::size_t index, double speed) {
  auto& now = ranks_[index].speed;
  leave(index);
  known_ += (speed > 0 ? 1U : 0U) - (now > 0 ? 1U : 0U);
  known_speed_ = known_ == 0 ? 0 : known_speed_ + speed - now;
  now = speed;
  enter(index);
}

void rank_loads::set_busy(std::size_t index) {
  auto& r = ranks_[index];
  r.seeks = false;
  if (!r.idle) return;
  r.idle = false;
  std::erase(idle_, index);
}

void rank_loads::granted(std::size_t index, std::uint64_t tasks) {
  set_waiting(index, ranks_[index].waiting + tasks);
  set_busy(index);
}

void rank_loads::told(std::size_t index, farm::load const& here) {
  set_waiting(index, here.waiting);
  if (std::isfinite(here.cost) && here.cost > 0)
    set_speed(index, static_cast<double>(ranks_[index].threads) / here.cost);
}

void rank_loads::lost(std::size_t index) {
  set_waiting(index, 0);
  set_speed(index, 0);
  set_busy(index);
  ranks_[index].finished = 0;
}

void rank_loads::found_empty(std::size_t index) { set_waiting(index, 0); }

void rank_loads::moves(std::size_t victim, std::size_t thief, std::uint64_t tasks) {
  auto const n = std::min(tasks, ranks_[victim].waiting);
  set_waiting(victim, ranks_[victim].waiting - n);
  set_busy(thief);
}

void rank_loads::waits_in_vain(std::size_t index) {
  auto& r = ranks_[index];
  if (!r.seeks || r.idle) return;
  r.idle = true;
  idle_.push_back(index);
}

double rank_loads::speed(std::size_t index) const {
  if (ranks_[index].speed > 0) return ranks_[index].speed;
  return known_ == 0 ? 0 : known_speed_ / static_cast<double>(known_);
}

double rank_loads::speed_of_thread(std::size_t index) const {
  return speed(index) / static_cast<double>(ranks_[index].threads);
}

double rank_loads::sure_speed_of_thread(std::size_t index) const {
  constexpr double few = 2, none = 0.5;
  auto const n = std::max(none, static_cast<double>(ranks_[index].finished));
  return speed_of_thread(index) * n / (n + few);
}

double rank_loads::share(std::size_t index, std::size_t computing) const {
  if (ranks_[index].speed <= 0) return 0;
  double const mean = known_speed_ / static_cast<double>(known_);
  double const unknown = computing > known_ ? static_cast<double>(computing - known_) : 0;
  return ranks_[index].speed / (known_speed_ + unknown * mean);
}

double rank_loads::remaining(std::uint64_t tasks, std::size_t computing) const {
  if (known_ == 0) return 0;
  double const mean = known_speed_ / static_cast<double>(known_);
  return static_cast<double>(tasks + all_waiting_) / (mean * static_cast<double>(computing));
}

// The rank other than `thief` whose waiting tasks take longest, of several the first.
std::optional<std::size_t> rank_loads::longest_but(std::size_t thief) {
  if (!std::exchange(sorted_, true))
    for (std::size_t i = 0; i < ranks_.size(); ++i) enter(i);
  std::optional<std::pair<double, std::size_t>> longest;
  for (auto const* all : {&known_victims_, &unknown_victims_}) {
    auto at = all->begin();
    if (at != all->end() && at->second == thief) ++at;
    if (at == all->end()) continue;
    auto const key = key_of(ranks_[at->second].waiting, speed(at->second), at->second);
    if (!longest || key < *longest) longest = key;
  }
  if (!longest) return std::nullopt;
  return longest->second;
}

std::optional<rank_loads::theft> rank_loads::theft_for(std::size_t thief) {
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

void rank_loads::hash(digest& d) const {
  for (auto const& r : ranks_)
    d.add(r.waiting).add(static_cast<std::uint64_t>(r.speed * 1000)).add(r.seeks).add(r.idle).add(r.finished);
  for (auto const i : idle_) d.add(i);
  d.add(idle_.size());
}

}  // namespace skel::role
