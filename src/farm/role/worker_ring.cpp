// The worker role as thief and victim on the ring: phase 2 of GDC (gdc section 3).
#include <algorithm>
#include <limits>

#include "farm/role/worker.hpp"

namespace skel::role {

namespace {
// Requests without an answer after which the thief goes on to the next rank (gdc section 3, fault tolerance:
// "more than three times").
constexpr unsigned most_unanswered = 3;
// A copy may be copied again by a rank that is faster by this.
constexpr double clearly_faster = 1.5;
}  // namespace

// Asks the next rank on the ring, if there is nothing left to begin. Small tasks are asked for while the last
// of them run; with large ones that would only move tasks from one queue into another.
void worker::maybe_steal(actions& out) {
  if (!config_.ring || !closed_ || stopping_ || has_work() || victim_ || resting_) return;
  auto const threads = static_cast<std::uint64_t>(config_.threads);
  if (running_.size() >= threads && reach_ <= threads) return;
  if (!searching_) {
    searching_ = true;
    search_.begin();
    may_copy_.clear();
  }
  if (auto const next = search_.next()) {
    ask(*next, 0, out);
    return;
  }
  if (!may_copy_.empty() && running_.size() < threads) {  // the slowest will take longest
    auto const slowest = std::min_element(may_copy_.begin(), may_copy_.end(),
                                          [](auto const& a, auto const& b) { return a.power < b.power; });
    rank_id const rank = slowest->rank;
    may_copy_.erase(slowest);
    ask(rank, 1, out);
    return;
  }
  // It has come round to itself. All have heard that this rank is hungry; whoever gets more than it needs
  // will give.
  searching_ = false;
  resting_ = true;
  maybe_flush(out);
}

void worker::ask(rank_id victim, std::uint64_t copies, actions& out) {
  victim_ = victim;
  unanswered_ = 0;
  ticks_ = 0;
  out.push_back(send{
      victim, {.kind = message_kind::steal, .number = copies, .power = config_.copies ? config_.power : 0}});
}

// Power of the fastest rank that runs a copy of it; 0: nobody does.
double worker::copier_of(task_range const& r) const {
  double power = 0;
  for (auto const& c : copied_)
    if (c.task.last() == r.last()) power = std::max(power, c.power);
  return power;
}

// What runs here, and on nobody who is about as fast as a rank of this power. Suspects stay here.
range_list worker::worth_a_copy(double power) const {
  range_list list;
  for (auto const& r : running_)
    if (std::find(watched_.begin(), watched_.end(), r) == watched_.end() &&
        power >= clearly_faster * copier_of(r))
      list.push_back(r);
  return list;
}

void worker::give_copy(rank_id thief, double power, actions& out) {
  auto const copy = worth_a_copy(power).front();
  copied_.push_back({copy, power});
  held_by_others_ = true;
  out.push_back(send{thief, {.kind = message_kind::give, .number = 1, .extra = 1, .ranges = {copy}}});
}

// What is queued beyond the tasks that the free threads are about to take: a rank that gave its last one
// would go stealing itself.
std::uint64_t worker::spare() const {
  auto const threads = static_cast<std::uint64_t>(config_.threads);
  auto const free = threads - std::min<std::uint64_t>(threads, running_.size());
  return queued_ > free ? queued_ - free : 0;
}

void worker::give(rank_id thief, actions& out) {
  std::uint64_t n = config_.take == steal_size::one ? 1 : (spare() + 1) / 2;
  message m{.kind = message_kind::give, .extra = held_by_others_ ? 1U : 0U};
  tasks_given_ += n;
  queued_ -= n;
  bool const last = config_.give == steal_end::last;
  while (n > 0) {
    auto& from = last ? queue_.back() : queue_.front();
    auto const part = last ? from.take_back(n) : from.take_front(n);
    if (from.empty()) queue_.erase(last ? std::prev(queue_.end()) : queue_.begin());
    n -= part.count;
    m.ranges.push_back(part);
  }
  if (last) std::reverse(m.ranges.begin(), m.ranges.end());
  forget_thief(thief);
  out.push_back(send{thief, std::move(m)});
}

void worker::on_steal(rank_id thief, message const& m, actions& out) {
  forget_thief(thief);
  if (!stopping_ && spare() > 0) {  // case 1
    give(thief, out);
    return;
  }
  auto const copies = config_.copies && !stopping_ ? worth_a_copy(m.power) : range_list{};
  if (m.number > 0 && !copies.empty()) {
    give_copy(thief, m.power, out);
    return;
  }
  if (!stopping_) hungry_.push_back(thief);
  message answer{.kind = message_kind::none, .number = copies.size()};
  if (!copies.empty()) answer.power = std::max(config_.power, copier_of(copies.front()));
  if (auto const busy = search_.knows_busy(); busy && *busy != thief)  // case 3, otherwise case 2
    answer.extra = 1 + static_cast<std::uint64_t>(*busy);
  out.push_back(send{thief, std::move(answer)});
}

void worker::on_give(rank_id victim, message const& m, actions& out) {
  if (victim_ == victim) victim_.reset();
  if (stopping_) return;
  held_by_others_ = held_by_others_ || m.extra != 0;
  always_told_ = always_told_ || m.extra != 0;
  stole_ = true;
  ++steals_;
  if (m.number == 0) search_.works(victim);
  searching_ = false;
  if (m.number > 0)
    for (auto const& r : m.ranges) copied_.push_back({r, std::numeric_limits<double>::infinity()});
  enqueue(m.ranges, held_by_others_);
  feed_hungry(out);
}

void worker::on_none(rank_id victim, message const& m, actions& out) {
  if (victim_ != victim) return;
  victim_.reset();
  constexpr std::size_t most_candidates = 16;
  if (m.number > 0 && config_.copies && may_copy_.size() < most_candidates)
    may_copy_.push_back({victim, m.power});
  if (m.extra > 0)
    search_.shortcut(victim, static_cast<rank_id>(m.extra - 1));
  else
    search_.idle(victim);
  maybe_steal(out);
}

// New tasks have come: those that have asked in vain get some, unless they have been given some meanwhile.
void worker::feed_hungry(actions& out) {
  while (!hungry_.empty() && !stopping_ && spare() > 1) give(hungry_.front(), out);
}

void worker::forget_thief(rank_id rank) { std::erase(hungry_, rank); }

void worker::tick_ring(actions& out) {
  if (victim_ && ++unanswered_ <= most_unanswered) {
    out.push_back(send{*victim_, {.kind = message_kind::steal}});  // without copies: they are given once
    return;
  }
  if (victim_) {  // silent: the root's detector finds out whether it is dead
    search_.idle(*victim_);
    victim_.reset();
  }
  resting_ = false;
  maybe_steal(out);
}

}  // namespace skel::role
