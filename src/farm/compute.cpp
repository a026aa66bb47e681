// The compute threads of a farm: take tasks, run them, hand results in, move messages in between.
#include <algorithm>
#include <utility>

#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "run.hpp"

namespace skel::detail {

namespace {

// Results of a quantum stay in the cache until they are sent.
constexpr std::size_t quantum_bytes = 128 * 1024;
}  // namespace

bool farm_run::find_work(unsigned thread) {
  auto& t = state_[thread];
  if (!t.todo && (computes_ || worker_.has_work())) {  // a root that serves may be the last one left
    worker_.idle(t.limit, t.wanted);
    perform(t.wanted, &t);
  }
  return t.todo.has_value();
}

void farm_run::after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) {
  if (!is_root() && thread != 0) return;
  lock.unlock();
  after_work();
  lock.lock();
}

// What whoever is free does between two quanta, without the lock.
void farm_run::after_work() {
  drain_sink();
  supply();
  if (stop_wanted()) {
    std::lock_guard const lock(engine_.mutex());
    check_stop();
  }
}

void farm_run::hold(result_batch batch) {
  // Batches of bytes are joined, those of objects only where they merge.
  if (!held_.empty() && (traits_.merged || !batch.local) && batch.in_place == held_.back().in_place) {
    auto& last = held_.back();
    last.ranges.insert(last.ranges.end(), batch.ranges.begin(), batch.ranges.end());
    if (batch.local) {
      work_.merge(*last.local, *batch.local);
    } else if (!batch.in_place) {
      auto const bytes = batch.packed.bytes();
      last.packed.body().insert(last.packed.body().end(), bytes.begin(), bytes.end());
      engine_.wires().recycle(std::move(batch.packed).release());
    }
    return;
  }
  held_.push_back(std::move(batch));
}

// On the root, while no task has been given to two ranks: otherwise another's result might be stored
// meanwhile.
bool farm_run::computes_in_place() const {
  return traits_.in_place && ledger_ && !policy_.copies && ledger_->handed_out_again() == 0;
}

// Runs what the role gave this thread, and hands it in. The lock is held on entry and exit, not meanwhile.
void farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  task_range const range = *t.todo;
  t.todo.reset();
  result_batch batch;
  batch.in_place = computes_in_place();
  if (!keeps_local_) batch.packed = transport::packet(engine_.wires().buffer());
  lock.unlock();

  if (keeps_local_ && !batch.in_place) batch.local = work_.make_local();
  if (batch.is_packed() && traits_.result_bytes * range.count > 4096)
    batch.packed.body().reserve(
        transport::packet::head_room +
        std::min<std::size_t>(quantum_bytes + traits_.result_bytes, traits_.result_bytes * range.count));
  std::uint64_t at = 0;
  double const begin = now();
  auto error = thrown_by([&] { run_slices(thread, range, at, batch); });
  span(thread, observe::activity::compute, begin, now(), range.first, at);

  lock.lock();
  clocks_[thread].tasks += at;
  clocks_[thread].busy += std::exchange(t.busy, 0);
  if (over_) return;  // the call has failed meanwhile: there is no one to hand the results to
  role::farm_actions list;
  task_range rest = range;
  task_range front = rest.take_front(at);
  if (!front.empty() && !draining_) {
    batch.ranges = {front};
    if (auto bad = thrown_by([&] { hold(std::move(batch)); })) {  // the user's merge: they have no result
      error = std::move(bad);
      front.count = 0;
      rest = range;
    }
  }
  bool const part = !error && !rest.empty();
  last_moved_ = now();
  if (ledger_) help_.did_own_tasks(t.cost, last_moved_);
  if (!front.empty()) {
    worker_.finished(front, error || part ? 0 : t.limit, list);
    perform(list, &t);
  }
  if (error) {
    task_id const id = rest.first;
    rest.take_front(1);
    worker_.failed(id, *error, rest, list);
  } else if (part && draining_) {
    worker_.finished(rest, 0, list);  // stopped in the middle: nobody waits for the rest
  } else if (part) {
    t.todo = rest;
    if (traits_.payload)
      t.payloads.erase(t.payloads.begin(), t.payloads.begin() + static_cast<std::ptrdiff_t>(at));
  }
  perform(list, &t);
}

void farm_run::run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch) {
  auto& t = state_[thread];
  worker_info const where{rank_, thread, threads_};
  double before = now();
  while (at < range.count) {
    std::uint64_t const end = std::min(range.count, at + tasks_in(slice_seconds, t.cost, t.limit));
    std::uint64_t const first = at;
    auto const account = [&] {
      double const after = now();
      t.busy += after - before;
      adapt(t, at - first, after - before, batch.is_packed() ? batch.packed.size() : 0);
      before = after;
    };
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
    if (before - engine_.last_progress() > slice_seconds) {
      not_of_the_user([&] {
        if (engine_.try_progress(slice_seconds) || is_root()) after_work();
      });
      before = now();
    }
  }
}

// How many tasks make a quantum: from the latest slice, growing by steps so that one cheap task does not
// decide.
void farm_run::adapt(thread_state& t, std::uint64_t tasks, double seconds, std::size_t bytes) {
  if (tasks == 0) return;
  double const cost = std::max(seconds / static_cast<double>(tasks), 1e-9);
  t.cost = t.cost == 0 ? cost : 0.7 * t.cost + 0.3 * cost;
  auto want = static_cast<std::uint64_t>(quantum_seconds / t.cost);
  if (bytes > quantum_bytes / 2) want = std::min(want, t.limit);
  want = std::min<std::uint64_t>(want, quantum_bytes / std::max<std::size_t>(1, traits_.result_bytes));
  t.limit = std::clamp<std::uint64_t>(want, 1, std::min(most_tasks_of_quantum, t.limit * 4));
}

}  // namespace skel::detail
