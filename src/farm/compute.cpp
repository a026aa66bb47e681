// The compute threads of a farm: they take tasks, run them in slices, and hand in the results.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/exit_status.hpp"
#include "run.hpp"

namespace skel::detail {

namespace {
// Keeps a quantum's results in the cache until they are sent.
constexpr std::size_t quantum_bytes = std::size_t{128} * 1024;
}  // namespace

bool farm_run::find_work(unsigned thread) {
  auto& t = state_[thread];
  if (!t.todo && (computes_ || member_.held().has_work()))  // a root that serves may be the last one left
    tell_member(t, &member::idle, t.pace.limit());
  return t.todo.has_value();
}

void farm_run::after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) {
  if (!is_root() && thread != 0) return;
  lock.unlock();
  after_work();
  lock.lock();
}

// Returns the place for the next results. On the root they are computed in place unless tasks may run on two
// ranks, since another rank's result might be stored at the same time.
result_batch farm_run::empty_batch() {
  result_batch batch;
  batch.in_place = in_place_ && !root_role_->may_run_twice();
  if (!keeps_local_) batch.packed = transport::packet(engine_.wires().buffer());
  return batch;
}

// Runs this thread's tasks and hands in their results. The lock is held on entry and exit, not in between.
void farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  task_range const range = *t.todo;
  t.todo.reset();
  auto batch = empty_batch();
  lock.unlock();

  if (keeps_local_ && !batch.in_place) batch.local = work_.make_local();
  auto const bytes = setup_.traits.result_bytes;
  if (batch.is_packed() && bytes * range.count > 4096)
    batch.packed.body().reserve(transport::packet::head_room +
                                std::min<std::size_t>(quantum_bytes + bytes, bytes * range.count));
  std::uint64_t at = 0;
  double const begin = now();
  bool merge_failed = false;
  auto const text = thrown_by([&] {
    try {
      run_slices(thread, range, at, batch);
    } catch (merge_failure const& bad) {
      merge_failed = true;
      std::rethrow_exception(bad.why);
    }
  });
  std::optional<thrown> error;
  if (text) error = thrown{*text, !merge_failed};
  span(thread, observe::activity::compute, begin, now(), work_.task_at(range.first), at);

  lock.lock();
  measures_[thread].tasks += at;
  double const busy = t.pace.take_busy();
  measures_[thread].busy += busy;
  member_.measured(setup_.cost_of({range.first, at, range.stride}, work_), busy);
  if (!over_)  // otherwise the call has failed meanwhile, and no role takes the results
    hand_in(t, range, at, std::move(batch), std::move(error));
}

// `done` tasks of `range` have results; if there is an error, the next one threw.
void farm_run::hand_in(thread_state& t, task_range const& range, std::uint64_t done, result_batch batch,
                       std::optional<thrown> error) {
  task_range rest = range;
  task_range front = rest.take_front(done);
  if (error && !error->of_task) {  // what was merged is lost
    front.count = 0;
    rest = range;
  }
  if (!front.empty() && !draining_) {
    batch.ranges = {front};
    if (auto bad = thrown_by([&] { unsent_.add(std::move(batch)); })) {  // the user's merge threw: no result
      error = thrown{std::move(*bad), false};
      front.count = 0;
      rest = range;
    }
  }
  bool const goes_on = error && error->of_task && setup_.options.on_error.goes_on();
  bool part = !error && !rest.empty();
  last_moved_ = now();
  if (root_role_) sink_.help().did_own_tasks(t.pace.cost(), last_moved_);
  if (!front.empty()) tell_member(t, &member::finished, front, error || part ? 0 : t.pace.limit());
  if (error) {
    task_id const id = rest.first;
    rest.take_front(1);
    ++done;
    part = goes_on && !rest.empty();
    if (goes_on)
      tell_member(t, &member::threw, id, std::move(error->text));
    else
      tell_member(t, &member::failed, id, std::move(error->text), rest);
  }
  if (part && draining_) {
    tell_member(t, &member::finished, rest, 0);  // stopped in the middle: the rest does not run
  } else if (part) {
    t.todo = rest;
    if (stream_.carries_tasks())
      t.payloads.erase(t.payloads.begin(), t.payloads.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

// Called with the lock held, by whichever thread drives communication.
void farm_run::watch_tasks(double t) {
  auto const limit = setup_.options.task.time_limit_seconds;
  if (must_end_) end_for(0);
  if (!limit || over_) return;
  for (auto const& thread : state_)
    if (double const since = thread.since; since > 0 && t - since > *limit) {
      end_for(thread.running);
      return;
    }
}

// The task cannot be interrupted, so its process must end: first the others learn why, and a tick later, when
// these messages have left, it ends.
void farm_run::end_for(task_id id) {
  auto const text = detail::format("has run for longer than its time limit of {} s",
                                   *setup_.options.task.time_limit_seconds);
  if (std::exchange(must_end_, true)) {
    if (!is_root()) std::raise(SIGKILL);  // as any loss of a rank
    end_process(rank_, 1);
  }
  auto const task = work_.task_at(id);
  std::fprintf(stderr, "skel: rank %d: task %llu %s, so this rank ends\n", rank_,
               static_cast<unsigned long long>(task), text.c_str());
  if (is_root()) {
    abort(detail::format("task {} {} on the root, which no rank can replace", task, text));
    return;
  }
  tell(member_, &member::threw, id, "it " + text);
}

void farm_run::run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch) {
  auto& t = state_[thread];
  worker_info const where{rank_, thread, threads_, engine_.place.device(thread)};
  double before = now();
  bool const limited = setup_.options.task.time_limit_seconds.has_value();
  std::uint64_t const most = quantum_bytes / std::max<std::size_t>(1, setup_.traits.result_bytes);
  while (at < range.count) {
    std::uint64_t const end = std::min(range.count, at + (limited ? 1 : t.pace.slice()));
    std::uint64_t const first = at;
    auto const account = [&] {
      double const after = now();
      bool const half_full = batch.is_packed() && batch.packed.size() > quantum_bytes / 2;
      t.pace.measured(at - first, after - before, half_full ? std::min(most, t.pace.limit()) : most);
      before = after;
      if (limited) t.since = 0;
    };
    if (limited) {
      t.running = range[at];
      t.since = before;
    }
    try {
      if (batch.in_place)
        work_.run_in_place(range, at, end, where);
      else if (batch.local)
        work_.run_local(range, at, end, t.payloads, where, *batch.local);
      else
        work_.run_packed(range, at, end, t.payloads, where, batch.packed.body());
    } catch (...) {
      account();
      throw;
    }
    account();
    if (at == range.count) return;
    if (draining_.load(std::memory_order_relaxed)) return;
    if (batch.is_packed() && batch.packed.size() >= quantum_bytes) return;
    if (before - engine_.driver().last_progress() > slice_seconds) {
      not_of_the_user([&] {
        if (engine_.driver().try_progress(slice_seconds) || is_root()) after_work();
      });
      before = now();
    }
  }
}

}  // namespace skel::detail
