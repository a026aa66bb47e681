// The compute threads of a ring_steal call: take tasks of the current debt, run them, give to thieves.
#include <algorithm>
#include <utility>

#include "skel/error.hpp"
#include "steal_run.hpp"

namespace skel::detail {

namespace {

// What a thread works on between two looks at what others want: so much that roles, locks and messages cost
// about one percent.
constexpr double quantum_seconds = 100e-6;
// Between slices of a quantum it looks whether messages want to be moved, and whether a thief waits.
constexpr double slice_seconds = 20e-6;
constexpr std::uint64_t most_tasks_of_quantum = 1 << 16;
// An idle thread polls for so long, then sleeps in growing steps.
constexpr double spin_seconds = 50e-6;
constexpr double shortest_sleep = 50e-6;
constexpr double longest_sleep = 800e-6;
// A thief that came round waits so long before it asks again; it begins with the shortest (steal_run.cpp).
constexpr double longest_backoff = 20e-3;
// A victim with nothing to give sends its thieves on after so long.
constexpr double thief_patience = 1e-3;

// What escapes from the engine between two tasks.
struct wires_failed {
  std::exception_ptr why;
};

}  // namespace

report steal_run::execute() {
  engine_.say_warning();
  {
    std::lock_guard const lock(engine_.mutex());
    engine_.throw_if_peer_failed();
    base_messages_ = engine_.messages_sent();
    base_bytes_ = engine_.bytes_sent();
  }
  std::optional<std::string> source_error_text;
  auto source = work_.make_bag();
  if (is_root()) {
    try {
      work_.open_source(*source);
    } catch (std::exception const& e) {
      source_error_text = e.what();
    } catch (...) {
      source_error_text = "an exception that is no std::exception";
    }
  }
  {
    std::lock_guard const lock(engine_.mutex());
    protocol::steal_actions list;
    if (is_root()) open_debt(0).waiting = std::move(source);
    role_.begin(list);
    perform(list);
    if (source_error_text) {
      roll_->source_failed(*source_error_text, list);
      perform(list);
    }
    for (std::size_t r = 0; r < engine_.lost().size(); ++r)  // in an earlier call
      if (engine_.lost()[r]) on_lost(static_cast<int>(r));
    engine_.open(key_, *this);
    check_dry();  // a source without tasks
  }
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
    case protocol::outcome::status::source_failed:
      throw source_error("the source of tasks failed: " + o.text);
    default:
      return result;
  }
}

void steal_run::work(unsigned thread) {
  auto& t = state_[thread];
  double idle_since = -1;
  std::unique_lock lock(engine_.mutex());
  try {
    while (!over_) {
      if (now() - engine_.last_progress() > slice_seconds / 4) engine_.progress();
      engine_.throw_if_peer_failed();
      if (over_) break;
      if (engine_.stop_requested().load(std::memory_order_relaxed) || options_.time_limit_seconds ||
          options_.stop.stop_possible())
        check_stop();
      auto const current = role_.current();
      if (current && debts_.at(*current).waiting->size() > 0) {
        if (idle_since >= 0) {
          double const end = now();
          t.idle += end - idle_since;
          span(thread, observe::activity::idle, idle_since, end, 0);
          idle_since = -1;
          if (thread == 0) engine_.rest_helper(false);
        }
        compute(thread, *current, lock);
      } else {
        if (idle_since < 0) idle_since = now();
        check_quiet();
        if (!over_) wait_for_work(thread, idle_since, lock);
      }
    }
  } catch (...) {
    if (!lock) lock.lock();
    give_up(std::current_exception());
  }
  if (thread == 0) engine_.rest_helper(false);
  if (idle_since >= 0) t.idle += now() - idle_since;
}

// One quantum. The lock is held on entry and exit, not meanwhile.
void steal_run::compute(unsigned thread, debt_id id, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  auto& d = debts_.at(id);
  std::uint64_t most = 1;
  if (t.cost > 0)
    most = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(quantum_seconds / t.cost), 1,
                                     most_tasks_of_quantum);
  auto const share = (d.waiting->size() + idle_) / (idle_ + 1);  // the others that wait want some, too
  work_.move_newest(*d.waiting, std::min<std::size_t>(most, share), *t.bag);
  if (t.sum_of != id) {
    t.sum = work_.make_result();
    t.sum_of = id;
    t.sum_tasks = 0;
  }
  ++d.running;
  ++running_;
  if (idle_ > 0 && d.waiting->size() > 0) engine_.work_arrived().notify_all();
  lock.unlock();

  std::optional<std::string> error;
  double const begin = now();
  quantum q;
  try {
    run_slices(thread, q);
  } catch (wires_failed const& failure) {  // not the task's fault
    std::rethrow_exception(failure.why);
  } catch (std::exception const& e) {
    error = e.what();
  } catch (...) {
    error = "an exception that is no std::exception";
  }
  span(thread, observe::activity::compute, begin, now(), q.tasks);

  lock.lock();
  --running_;
  t.tasks += q.tasks;
  t.busy += q.busy;
  t.sum_tasks += q.tasks;
  if (auto const at = debts_.find(id); at != debts_.end()) {
    auto& mine = at->second;
    --mine.running;
    work_.move_newest(*t.bag, t.bag->size(), *mine.waiting);
    if (idle_ > 0 && mine.waiting->size() > 0) engine_.work_arrived().notify_all();
  } else {
    t.bag = work_.make_bag();  // void meanwhile
  }
  if (error) fail_task(*error);
  serve();
  check_dry();
  check_quiet();
}

void steal_run::run_slices(unsigned thread, quantum& q) {
  auto& t = state_[thread];
  worker_info const where{rank_, thread, threads_};
  double before = now();
  double const end = before + quantum_seconds;
  while (t.bag->size() > 0) {
    std::uint64_t most = 1;
    if (t.cost > 0)
      most = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(slice_seconds / t.cost), 1,
                                       most_tasks_of_quantum);
    std::uint64_t done = 0;
    auto const account = [&] {
      double const after = now();
      q.tasks += done;
      q.busy += after - before;
      if (done > 0) {
        double const cost = std::max((after - before) / static_cast<double>(done), 1e-9);
        // Growing by steps, so that one cheap task does not decide.
        t.cost =
            t.cost == 0 ? std::max(cost, slice_seconds / 16) : std::max(0.5 * (t.cost + cost), t.cost / 4);
      }
      before = after;
    };
    try {
      work_.run(*t.bag, *t.sum, most, done, where);
    } catch (...) {
      account();
      throw;
    }
    account();
    if (before >= end || draining_.load(std::memory_order_relaxed) || wanted_.load(std::memory_order_relaxed))
      return;
    if (before - engine_.last_progress() > slice_seconds) {
      try {
        static_cast<void>(engine_.try_progress(slice_seconds));
      } catch (...) {
        throw wires_failed{std::current_exception()};
      }
      before = now();
    }
  }
}

// What the threads have found for this debt becomes part of its result. None of them works on it.
void steal_run::gather(debt_id id) {
  auto& d = debts_.at(id);
  for (auto& t : state_) {
    if (t.sum_of != id) continue;
    t.sum_of.reset();
    work_.merge(*d.sum, *t.sum);
    d.tasks += t.sum_tasks;
  }
}

void steal_run::check_dry() {
  while (auto const current = role_.current()) {
    auto const& d = debts_.at(*current);
    if (d.waiting->size() > 0 || d.running > 0) return;
    try {
      gather(*current);
    } catch (std::exception const& e) {
      fail_task(e.what());
      return;
    } catch (...) {
      fail_task("an exception that is no std::exception");
      return;
    }
    protocol::steal_actions list;
    role_.dry(*current, list);
    perform(list);
  }
}

void steal_run::check_quiet() {
  if (!draining_ || running_ > 0 || over_) return;
  protocol::steal_actions list;
  role_.quiet(list);
  perform(list);
}

// Gives to the thieves that wait. A debt that no thread works on keeps a task: whoever asks is about to take
// it.
void steal_run::serve() {
  protocol::steal_actions list;
  while (role_.wanted() && !draining_) {
    auto const current = role_.current();
    auto const spare = [&](auto const& entry) {
      std::size_t const keeps = entry.first == current && entry.second.running == 0 ? 1 : 0;
      return entry.second.waiting->size() > keeps;
    };
    auto const from = std::find_if(debts_.begin(), debts_.end(), spare);
    if (from == debts_.end()) break;
    thieves_since_ = -1;
    role_.spare(from->first, list);
    perform(list);
    last_moved_ = now();
  }
  if (!role_.wanted()) {
    thieves_since_ = -1;
  } else if (thieves_since_ < 0) {
    thieves_since_ = now();
  } else if (now() - thieves_since_ > thief_patience) {
    thieves_since_ = -1;
    role_.nothing_to_spare(list);
    perform(list);
  }
}

void steal_run::idle_work() {
  std::unique_lock const lock(engine_.mutex(), std::try_to_lock);
  if (!lock || over_) return;
  try {
    serve();
  } catch (std::exception const&) {
    // The wires are broken: the compute threads meet the same error and report it.
  }
}

void steal_run::retry_when_due() {
  if (!role_.resting()) {
    retry_at_ = -1;
    return;
  }
  if (retry_at_ < 0) retry_at_ = now() + backoff_;
  if (now() < retry_at_) return;
  retry_at_ = -1;
  backoff_ = std::min(backoff_ * 2, longest_backoff);
  protocol::steal_actions list;
  role_.retry(list);
  perform(list);
}

void steal_run::wait_for_work(unsigned thread, double idle_since, std::unique_lock<std::mutex>& lock) {
  bool const polls = (engine_.size() > 1 && thread == 0) || engine_.owns_time();
  ++idle_;
  if (!polls) {
    engine_.work_arrived().wait_for(lock, std::chrono::milliseconds(5));
    --idle_;
    return;
  }
  retry_when_due();
  double const idle = now() - std::max(idle_since, engine_.last_arrival());
  double step = 0;
  if (idle >= spin_seconds) {
    step = std::clamp(idle / 2, shortest_sleep, longest_sleep);
    if (step == longest_sleep) engine_.rest_helper(true);  // this thread listens often enough
  }
  if (engine_.owns_time() && retry_at_ >= 0) {
    lock.unlock();
    engine_.wires().wait(std::max(retry_at_ - now(), 1e-6));
    lock.lock();
  } else {
    engine_.rest(lock, step);
  }
  --idle_;
  engine_.progress();
  // Open MPI's probe says no, and then looks at the network: what arrived during a sleep is seen by the
  // second.
  if (idle >= spin_seconds && !over_) engine_.progress();
}

}  // namespace skel::detail
