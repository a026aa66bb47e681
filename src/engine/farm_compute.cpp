// The compute threads of a farm: take tasks, run them, hand results in, move messages in between.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "farm_run.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// A quantum is what a thread takes at a time: about this much work, so that roles and messages cost about one
// percent.
constexpr double quantum_seconds = 100e-6;
// Between slices of a quantum a thread looks whether messages want to be moved.
constexpr double slice_seconds = 20e-6;
// Results of a quantum stay in the cache until they are sent.
constexpr std::size_t quantum_bytes = 128 * 1024;
constexpr std::uint64_t most_tasks_of_quantum = 1 << 16;
// A thread with nothing to do polls for so long, then sleeps in growing steps: an idle rank costs little and
// answers within a millisecond.
constexpr double spin_seconds = 50e-6;
constexpr double shortest_sleep = 50e-6;
constexpr double longest_sleep = 800e-6;

// What escapes from the engine between two tasks.
struct wires_failed {
  std::exception_ptr why;
};

}  // namespace

report farm_run::execute() {
  engine_.say_warning();
  finished_.assign(static_cast<std::size_t>(engine_.size()), 0);
  {
    std::lock_guard const lock(engine_.mutex());
    engine_.throw_if_peer_failed();
    base_messages_ = engine_.messages_sent();
    base_bytes_ = engine_.bytes_sent();
    protocol::actions list;
    if (ledger_) ledger_->begin(list);
    perform(list, nullptr);
    worker_.begin(list);
    perform(list, nullptr);
    engine_.open(key_, *this);
    for (std::size_t r = 0; r < engine_.lost().size(); ++r)  // in an earlier call
      if (engine_.lost()[r]) on_lost(static_cast<int>(r));
  }
  // Pool threads only where they can help: a root that serves computes nothing.
  engine_.with_pool(*this, threads_, [this] { work(0); });
  std::unique_lock lock(engine_.mutex());
  bool const broken = error_ != nullptr;
  if (!broken) engine_.flush(lock, 5.0);
  auto result = make_report();
  engine_.close(key_);
  lock.unlock();
  if (display_) show_progress(true);
  if (broken) std::rethrow_exception(error_);
  auto const& o = *outcome_;
  switch (o.how) {
    case protocol::outcome::status::task_failed:
      throw task_error(o.task, o.rank, o.text, o.more);
    case protocol::outcome::status::sink_failed:
      throw sink_error(o.task, o.text);
    case protocol::outcome::status::source_failed:
      throw source_error("the source of tasks failed: " + o.text);
    default:
      return result;
  }
}

void farm_run::work(unsigned thread) {
  auto& t = state_[thread];
  protocol::actions list;
  double idle_since = -1;
  std::unique_lock lock(engine_.mutex());
  try {
    while (!over_) {
      if (now() - engine_.last_progress() > slice_seconds / 4) engine_.progress();
      engine_.throw_if_peer_failed();
      if (over_) break;
      if (!t.todo && (computes_ || worker_.has_work())) {  // a root that serves may be the last one left
        worker_.idle(t.limit, list);
        perform(list, &t);
      }
      if (t.todo) {
        if (idle_since >= 0) {
          double const end = now();
          t.idle += end - idle_since;
          span(thread, observe::activity::idle, idle_since, end, 0, 0);
          idle_since = -1;
          if (thread == 0) engine_.rest_helper(false);
        }
        compute(thread, lock);
      } else {
        if (idle_since < 0) idle_since = now();
        wait_for_work(thread, idle_since, lock);
      }
      if (is_root() || thread == 0) {
        lock.unlock();
        after_work();
        lock.lock();
      }
    }
  } catch (...) {
    if (!lock) lock.lock();
    give_up(std::current_exception());
  }
  if (thread == 0) engine_.rest_helper(false);
  if (idle_since >= 0) t.idle += now() - idle_since;
}

// What whoever is free does between two quanta, without the lock.
void farm_run::after_work() {
  drain_sink();
  supply();
  if (options_.stop.stop_requested() || engine_.stop_requested().load(std::memory_order_relaxed) ||
      options_.time_limit_seconds) {
    std::lock_guard const lock(engine_.mutex());
    check_stop();
  }
}

void farm_run::wait_for_work(unsigned thread, double idle_since, std::unique_lock<std::mutex>& lock) {
  if (over_) return;
  bool const polls = (engine_.size() > 1 && thread == 0) || engine_.owns_time();
  if (!polls) {
    engine_.work_arrived().wait_for(lock, std::chrono::milliseconds(5));
    return;
  }
  // Where one message came, the next is not far: a root that only collects must not sleep between them.
  double const idle = now() - std::max(idle_since, engine_.last_arrival());
  double step = 0;
  if (idle >= spin_seconds) {  // growing steps: about as long as it has been idle already
    step = std::clamp(idle / 2, shortest_sleep, longest_sleep);
    if (step == longest_sleep) engine_.rest_helper(true);  // this thread listens often enough
  }
  engine_.rest(lock, step);
  engine_.progress();
  // Open MPI's probe says no, and then looks at the network: what arrived during a sleep is seen by the
  // second.
  if (idle >= spin_seconds && !over_) engine_.progress();
}

void farm_run::hold(result_batch batch) {
  // Batches of bytes are joined, those of objects only where they merge.
  if (!held_.empty() && (traits_.merged || !batch.local)) {
    auto& last = held_.back();
    last.ranges.insert(last.ranges.end(), batch.ranges.begin(), batch.ranges.end());
    if (batch.local) {
      work_.merge(*last.local, *batch.local);
    } else {
      auto const bytes = batch.packed.bytes();
      last.packed.body().insert(last.packed.body().end(), bytes.begin(), bytes.end());
      engine_.wires().recycle(std::move(batch.packed).release());
    }
    return;
  }
  held_.push_back(std::move(batch));
}

// Runs what the role gave this thread, and hands it in. The lock is held on entry and exit, not meanwhile.
void farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  task_range const range = *t.todo;
  t.todo.reset();
  result_batch batch;
  if (!keeps_local_) batch.packed = transport::packet(engine_.wires().buffer());
  lock.unlock();

  if (keeps_local_)
    batch.local = work_.make_local();
  else if (traits_.result_bytes * range.count > 4096)
    batch.packed.body().reserve(
        transport::packet::head_room +
        std::min<std::size_t>(quantum_bytes + traits_.result_bytes, traits_.result_bytes * range.count));
  std::uint64_t at = 0;
  std::optional<std::string> error;
  double const begin = now();
  try {
    run_slices(thread, range, at, batch);
  } catch (wires_failed const& failure) {  // not the task's fault
    std::rethrow_exception(failure.why);
  } catch (std::exception const& e) {
    error = e.what();
  } catch (...) {
    error = "an exception that is no std::exception";
  }
  span(thread, observe::activity::compute, begin, now(), range.first, at);
  t.tasks += at;

  lock.lock();
  protocol::actions list;
  task_range rest = range;
  task_range front = rest.take_front(at);
  if (!front.empty() && !draining_) {
    batch.ranges = {front};
    try {
      hold(std::move(batch));
    } catch (std::exception const& e) {  // the user's merge: these tasks have no result
      error = e.what();
      front.count = 0;
      rest = range;
    }
  }
  bool const part = !error && !rest.empty();
  last_moved_ = now();
  if (ledger_) own_finished_.store(last_moved_, std::memory_order_relaxed);
  if (!front.empty()) {
    worker_.finished(front, error || part ? 0 : t.limit, list);
    perform(list, &t);
  }
  if (error) {
    task_id const id = rest.first;
    rest.take_front(1);
    worker_.failed(id, *error, rest, list);
    draining_ = true;
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
    std::uint64_t slice = 1;
    if (t.cost > 0)
      slice = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(slice_seconds / t.cost), 1, t.limit);
    std::uint64_t const end = std::min(range.count, at + slice);
    std::uint64_t const first = at;
    auto const account = [&] {
      double const after = now();
      t.busy += after - before;
      adapt(t, at - first, after - before, batch.local ? 0 : batch.packed.size());
      before = after;
    };
    try {
      if (batch.local)
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
    if (!batch.local && batch.packed.size() >= quantum_bytes) return;
    if (before - engine_.last_progress() > slice_seconds) {
      try {
        if (engine_.try_progress(slice_seconds) || is_root()) after_work();
      } catch (...) {
        throw wires_failed{std::current_exception()};
      }
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

// --- the root: sink, stop, progress
// ---------------------------------------------------------------------------------

// The time of results that came as objects and of those that came as bytes is told apart.
sink_stage::progress farm_run::drain_timed(std::deque<sink_stage::entry>& entries) {
  sink_stage::progress progress;
  progress.sunk = sunk_;
  std::deque<sink_stage::entry> alike;
  for (std::size_t i = 0; i < entries.size();) {
    bool const own = entries[i].batch->local != nullptr;
    alike.clear();
    for (; i < entries.size() && (entries[i].batch->local != nullptr) == own; ++i)
      alike.push_back(entries[i]);
    double const begin = now();
    auto const before = progress.sunk;
    progress = sink_.drain(alike);
    if (progress.sunk == before) continue;
    double const cost = (now() - begin) / static_cast<double>(progress.sunk - before);
    auto& mean = own ? own_sink_cost_ : remote_sink_cost_;
    mean = mean == 0 ? cost : 0.7 * mean + 0.3 * cost;
  }
  return progress;
}

// Where handling a result of another rank costs the root more than doing the task itself, help is none. With
// the lock.
void farm_run::weigh_help() {
  if (!asks_root(policy_) || !computes_ || over_ || ledger_->stopping()) return;
  double const own = state_[0].cost + own_sink_cost_;
  bool const hold = state_[0].cost > 0 && own_sink_cost_ > 0 && remote_sink_cost_ > own && root_is_at_it();
  if (hold == ledger_->holds_back()) return;
  holds_back_ = hold;
  protocol::actions list;
  ledger_->hold_back(hold, list);
  perform(list, nullptr);
}

// Not inside a long task, where it would take nothing of what it holds back.
bool farm_run::root_is_at_it() const {
  constexpr double lately = 1e-3;
  return now() - own_finished_.load(std::memory_order_relaxed) < lately;
}

void farm_run::drain_sink() {
  if (is_root() && holds_back_.load(std::memory_order_relaxed) && !root_is_at_it()) {
    std::lock_guard const lock(engine_.mutex());
    weigh_help();
  }
  if (!is_root() || sink_busy_.test_and_set(std::memory_order_acquire)) return;
  struct clear_at_end {
    std::atomic_flag& flag;
    ~clear_at_end() { flag.clear(std::memory_order_release); }
  } const not_busy{sink_busy_};
  if (display_) show_progress(false);
  while (true) {
    std::deque<sink_stage::entry> entries;
    {
      std::lock_guard const lock(engine_.mutex());
      if (!sink_.waiting() || over_) return;
      if (ledger_->stopping()) {
        sink_.discard();
        return;
      }
      entries = sink_.take();
    }
    double const begin = now();
    auto const first = entries.front().ranges.empty() ? 0 : entries.front().ranges.front().first;
    engine_.rest_helper(false);  // the sink may take its time
    auto const progress = drain_timed(entries);
    span(threads_ + 1, observe::activity::sink, begin, now(), first, progress.sunk - sunk_);
    sunk_ = progress.sunk;
    std::lock_guard const lock(engine_.mutex());
    // The memory of messages serves again: fresh pages would cost more than what is read into them.
    for (auto& e : entries)
      if (e.batch.use_count() == 1 && !e.batch->local)
        engine_.wires().recycle(std::move(e.batch->packed).release());
    protocol::actions list;
    if (progress.error) ledger_->sink_failed(progress.error->first, progress.error->second, list);
    ledger_->sunk(progress.sunk, progress.next, list);
    if (progress.stop) ledger_->stop_early(list);
    perform(list, nullptr);
    weigh_help();
  }
}

void farm_run::check_stop() {
  if (over_ || stop_sent_) return;
  bool const late = options_.time_limit_seconds && now() - start_ >= *options_.time_limit_seconds;
  if (!late && !options_.stop.stop_requested() && !engine_.stop_requested().load()) return;
  stop_sent_ = true;
  protocol::actions list;
  if (ledger_)
    ledger_->stop_early(list);
  else
    worker_.please_stop(list);
  perform(list, nullptr);
}

void farm_run::show_progress(bool last) {
  observe::progress_state s;
  s.done = sunk_;
  if (traits_.tasks) s.total = traits_.tasks;
  s.seconds = now() - start_;
  s.ranks = engine_.size();
  s.lost_ranks = lost_ranks_;
  if (last)
    display_->finish(s);
  else
    display_->update(s);
}

std::string farm_run::state() const {
  std::string text =
      fmt::format("rank {}: farm {} (context {}, {}): {} queued, {} running, {} finished and not sent{}",
                  rank_, key_.number, key_.context, to_string(policy_), worker_.queued(), worker_.running(),
                  worker_.unsent(), worker_.waiting() ? ", waiting for an answer of the root" : "");
  if (!ledger_) {
    if (!heard_[static_cast<std::size_t>(root_)]) text += "; nothing heard from the root in this call";
    return text;
  }
  text += fmt::format("; root: {} given, {} recorded, {} in the sink, {} in the pool", ledger_->given(),
                      ledger_->recorded(), sunk_.load(), ledger_->pooled());
  if (ledger_->stopping())
    text += fmt::format(", stopping, waiting for ranks [{}]", fmt::join(ledger_->not_stopped(), " "));
  std::vector<int> absent;
  for (std::size_t r = 0; r < heard_.size(); ++r)
    if (!heard_[r] && static_cast<int>(r) != rank_) absent.push_back(static_cast<int>(r));
  if (!absent.empty()) text += fmt::format("; not in this call: ranks [{}]", fmt::join(absent, " "));
  return text;
}

void farm_run::say_state(std::string const& why) const {
  std::fprintf(stderr, "skel: %s: %s\n", why.c_str(), state().c_str());
}

// The run makes no progress: every rank says where it stands, and the job ends. The root begins; the others
// wait a little longer, for the case that it is the root which hangs.
void farm_run::watch(double t) {
  double const limit = engine_.options().watchdog_seconds;
  if (limit <= 0 || over_) return;
  double const quiet = t - last_moved_;
  if (quiet < limit + (is_root() ? 0 : 5)) return;
  auto const text = fmt::format("{}{:.0f} s", watchdog_text, quiet);
  say_state(text);
  protocol::actions list;
  if (ledger_) {
    ledger_->abort(text, list);
    perform(list, nullptr);
  }
  over_ = true;                                           // said once
  for (int i = 0; i < 1000 && engine_.size() > 1; ++i) {  // the others print too before mpiexec ends them
    engine_.progress();
    engine_.wires().wait(1e-3);
  }
  ctx_.leave(1);
}

}  // namespace skel::detail
