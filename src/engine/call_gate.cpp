#include "call_gate.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

std::uint32_t call_gate::enter(context_id context, bool nested) {
  std::lock_guard const lock(mutex_);
  if (all_shut_) std::rethrow_exception(all_shut_);
  auto& c = contexts_[context];
  if (c.shut && c.calls + 1 >= c.first_shut) std::rethrow_exception(c.shut);
  if (!c.busy) {
    c.busy = true;
    c.caller = std::this_thread::get_id();
    return ++c.calls;
  }
  nested = nested || c.caller == std::this_thread::get_id();
  auto text =
      nested ? detail::format(
                   "rank {} made a skeleton call inside a task, merge, source or sink of another call on the "
                   "same context: make it after that call has returned, or, in a task, source or sink, on a "
                   "team of this rank (context::team)",
                   rank_)
             : detail::format(
                   "two threads of rank {} made skeleton calls on one context at the same time: make "
                   "one after the other, or give the other thread a context of its own "
                   "(context::beside)",
                   rank_);
  // On one rank the call in progress is intact. On several, it is unknown which of the two calls
  // the others have joined.
  if (nested || size_ > 1) {
    failures_.push_back({{context, c.calls}, call_failure::kind::usage, text, !nested});
    has_failures_.store(true, std::memory_order_relaxed);
  }
  throw usage_error(text);
}

void call_gate::leave(context_id context) {
  std::lock_guard const lock(mutex_);
  contexts_[context].busy = false;
}

void call_gate::shut(context_id context, std::uint32_t first, std::exception_ptr why) {
  std::lock_guard const lock(mutex_);
  auto& c = contexts_[context];
  c.shut = std::move(why);
  c.first_shut = first;
}

void call_gate::shut_all(std::exception_ptr why) {
  std::lock_guard const lock(mutex_);
  all_shut_ = std::move(why);
}

bool call_gate::is_caller(context_id context) {
  std::lock_guard const lock(mutex_);
  auto const c = contexts_.find(context);
  return c != contexts_.end() && c->second.busy && c->second.caller == std::this_thread::get_id();
}

std::vector<call_failure> call_gate::take_failures() {
  std::lock_guard const lock(mutex_);
  has_failures_.store(false, std::memory_order_relaxed);
  return std::exchange(failures_, {});
}

std::vector<call_failure> call_gate::take_failures(run_key of) {
  std::lock_guard const lock(mutex_);
  auto const mine =
      std::stable_partition(failures_.begin(), failures_.end(), [&](auto const& f) { return f.call != of; });
  std::vector<call_failure> taken(std::make_move_iterator(mine), std::make_move_iterator(failures_.end()));
  failures_.erase(mine, failures_.end());
  has_failures_.store(!failures_.empty(), std::memory_order_relaxed);
  return taken;
}

}  // namespace skel::detail
