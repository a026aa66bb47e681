#include "farm/task_gate.hpp"

#include <cmath>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
// Small tasks that begin before one that waits for room. Then it waits only for those that run.
constexpr std::uint64_t most_passed = 64;
}  // namespace

task_gate::answer task_gate::enter(task_id id, task_needs const& needs, double now) {
  if (needs.threads < 1 || !(needs.seconds >= 0) || std::isinf(needs.seconds))
    throw usage_error(detail::format(
        "its needs are {} threads and {} s: expected at least 1 thread, and a time that is finite",
        needs.threads, needs.seconds));
  role::task_room const needed{needs.memory, needs.threads};
  if (!mine_.fits(needed)) return role::farm::refused{id, 0, needed.memory, needed.threads, {}};
  if (needs.seconds > 0 && end_ && now + needs.seconds > *end_)
    return role::farm::refused{
        id, 0, needed.memory, needed.threads,
        detail::format("not started: it may take {:.4g} s, and the run ends in {:.4g} s", needs.seconds,
                       *end_ - now)};
  std::lock_guard const lock(mutex_);
  role::task_room const left{mine_.memory - taken_.memory, mine_.threads - taken_.threads};
  bool const turn = !first_waiting_ || *first_waiting_ == id || passed_ < most_passed;
  if (running_ > 0 && !(turn && left.fits(needed))) {
    if (!first_waiting_) first_waiting_ = id;
    return wait{ended_};
  }
  ++passed_;
  if (running_ == 0 || first_waiting_ == id) {
    first_waiting_.reset();
    passed_ = 0;
  }
  ++running_;
  taken_.memory += needed.memory;
  taken_.threads += needed.threads;
  return answer(std::in_place_type<place>, *this, needed);
}

void task_gate::leave(role::task_room const& taken) {
  std::lock_guard const lock(mutex_);
  --running_;
  ++ended_;
  taken_.memory -= taken.memory;
  taken_.threads -= taken.threads;
}

std::uint64_t task_gate::ended() const {
  std::lock_guard const lock(mutex_);
  return ended_;
}

}  // namespace skel::detail
