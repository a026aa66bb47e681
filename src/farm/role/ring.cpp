#include "farm/role/ring.hpp"

#include <algorithm>
#include <limits>

#include "farm/role/late_tasks.hpp"

namespace skel::role {

namespace {
// Unanswered requests after which the thief moves on to the next rank ([Lee97, §3], fault tolerance: "more
// than three times").
constexpr unsigned most_unanswered = 3;
constexpr std::size_t most_candidates = 16;
}  // namespace

farm_ring::farm_ring(rank_id self, std::uint64_t threads, double power, farm_ring_config const& config)
    : config_(config),
      threads_(threads),
      power_(power),
      search_(self, config_.first, config_.ranks, config_.order) {}

// --- thief

bool farm_ring::seek(held_tasks const& held, std::uint64_t reach, farm_actions& out) {
  if (victim_ || resting_) return false;
  // Asks for small tasks while the last ones run. Doing so with large tasks would only move them from one
  // queue to another.
  auto const running = held.running().size();
  if (running >= threads_ && reach <= threads_) return false;
  if (!searching_) {
    searching_ = true;
    search_.begin();
    may_copy_.clear();
  }
  if (auto const next = search_.next()) {
    ask(*next, false, out);
  } else if (!may_copy_.empty() && running < threads_) {  // the slowest will take longest
    auto const slowest = std::min_element(may_copy_.begin(), may_copy_.end(),
                                          [](auto const& a, auto const& b) { return a.power < b.power; });
    rank_id const rank = slowest->rank;
    may_copy_.erase(slowest);
    ask(rank, true, out);
  } else {
    // The search is complete. All ranks know that this one is idle, and give it tasks when they get more
    // than they need.
    searching_ = false;
    resting_ = true;
  }
  return true;
}

bool farm_ring::wants_to_be_told(held_tasks const& held, std::uint64_t reach) const {
  return !victim_ && !resting_ && (held.running().size() < threads_ || reach > threads_);
}

bool farm_ring::on(rank_id /*root*/, farm::take_from const& m, bool works, held_tasks& /*held*/,
                   farm_reports& reports, farm_actions& out) {
  if (!config_.directed) return false;
  reports.answered();
  if (!works || victim_) return false;
  resting_ = false;
  most_ = m.tasks;
  ask(m.victim, false, out);
  return false;
}

void farm_ring::ask(rank_id victim, bool copy, farm_actions& out) {
  victim_ = victim;
  unanswered_ = 0;
  out.push_back(farm::send{victim, farm::steal{copy, copies() ? power_ : 0, most_}});
}

bool farm_ring::on(rank_id victim, farm::give const& m, bool works, held_tasks& held, farm_reports& reports,
                   farm_actions& out) {
  answered(victim);
  if (!works) return false;
  if (m.may_be_held) reports.untold().tell_always();
  reports.untold().tell_once();
  searching_ = false;
  held_by_others_ = held_by_others_ || m.may_be_held;
  if (m.copy)
    for (auto const& r : m.ranges) copied_.push_back({r, std::numeric_limits<double>::infinity()});
  else
    search_.works(victim);
  held.add(m.ranges, held_by_others_);
  feed_hungry(held, out);
  return false;
}

bool farm_ring::on(rank_id victim, farm::none const& m, bool /*works*/, held_tasks& /*held*/,
                   farm_reports& reports, farm_actions& /*out*/) {
  if (victim_ != victim) return false;
  answered(victim);
  if (m.copies && copies() && may_copy_.size() < most_candidates) may_copy_.push_back({victim, m.power});
  if (m.busy)
    search_.shortcut(victim, *m.busy);
  else
    search_.idle(victim);
  if (config_.directed) reports.refused_by(victim);
  return true;
}

bool farm_ring::lost(rank_id rank) {
  search_.lost(rank);
  forget_thief(rank);
  if (victim_ != rank) return false;
  victim_.reset();
  return true;
}

bool farm_ring::repeat(farm_actions& out) {
  if (victim_ && ++unanswered_ <= most_unanswered) {
    out.push_back(
        farm::send{*victim_, farm::steal{false, 0, most_}});  // without copies, since tasks are given once
    return true;
  }
  if (victim_) {  // silent: the root's detector decides whether it is dead
    search_.idle(*victim_);
    victim_.reset();
  }
  resting_ = false;
  return false;
}

// --- victim

// Returns the power of the fastest rank that runs a copy of the task; 0: no copy.
double farm_ring::copier_of(task_range const& r) const {
  double power = 0;
  for (auto const& c : copied_)
    if (c.task.last() == r.last()) power = std::max(power, c.power);
  return power;
}

// Returns a task that runs here and on no other rank about as fast as `power`. Tasks granted alone are never
// copied.
range_list farm_ring::worth_a_copy(double power, held_tasks const& held) const {
  range_list list;
  for (auto const& r : held.running())
    if (!held.runs_alone(r) && power >= clearly_faster * copier_of(r)) list.push_back(r);
  return list;
}

// Returns the number of queued tasks beyond those that free threads are about to take: a rank that gave its
// last task would have to steal itself.
std::uint64_t farm_ring::spare(held_tasks const& held) const {
  auto const free = threads_ - std::min<std::uint64_t>(threads_, held.running().size());
  return held.queued() > free ? held.queued() - free : 0;
}

// `most`: tasks to give as the root said; 0: as the schedule says.
void farm_ring::give(rank_id thief, std::uint64_t most, held_tasks& held, farm_actions& out) {
  std::uint64_t n = config_.take == schedule::steal_size::one ? 1 : (spare(held) + 1) / 2;
  if (most > 0) n = std::min(most, spare(held));
  forget_thief(thief);
  out.push_back(farm::send{thief, farm::give{held.give_away(n, config_.give), held_by_others_}});
}

bool farm_ring::on(rank_id thief, farm::steal const& m, bool works, held_tasks& held,
                   farm_reports& /*reports*/, farm_actions& out) {
  forget_thief(thief);
  if (works && spare(held) > 0) {  // case 1
    give(thief, m.most, held, out);
    return false;
  }
  auto const copies = this->copies() && works ? worth_a_copy(m.power, held) : range_list{};
  if (m.copy && !copies.empty()) {
    copied_.push_back({copies.front(), m.power});
    held_by_others_ = true;
    out.push_back(farm::send{thief, farm::give{{copies.front()}, true, true}});
    return false;
  }
  if (works && !config_.directed) hungry_.push_back(thief);
  farm::none answer;
  answer.copies = !copies.empty();
  if (answer.copies) answer.power = std::max(power_, copier_of(copies.front()));
  // Case 3, otherwise case 2.
  if (auto const busy = search_.knows_busy(); busy && *busy != thief) answer.busy = busy;
  out.push_back(farm::send{thief, answer});
  return false;
}

void farm_ring::granted(farm::grant const& m, held_tasks& held, farm_actions& out) {
  held_by_others_ = held_by_others_ || m.may_be_held;
  feed_hungry(held, out);
}

// New tasks have arrived: gives some to ranks that asked in vain and are still idle.
void farm_ring::feed_hungry(held_tasks& held, farm_actions& out) {
  if (held.queued() > 0) resting_ = false;
  while (!hungry_.empty() && spare(held) > 1) give(hungry_.front(), 0, held, out);
}

}  // namespace skel::role
