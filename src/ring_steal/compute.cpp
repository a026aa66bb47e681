// The compute threads of a ring_steal call: take tasks of the current debt, run them, serve
// thieves.
#include <algorithm>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"

namespace skel::detail {

namespace {

// Upper bound on the wait of a thief after a full round, in seconds. It starts with the shortest
// (run.cpp).
constexpr double longest_backoff = 20e-3;
// Copying this few tasks before they run is almost free: they are one quantum's work, or their cost
// is still unknown.
constexpr std::size_t few_tasks = 32;
// A quantum takes as many tasks as recent quanta needed. With spawning tasks these are far fewer
// than it runs, and a larger take would be moved back and forth for nothing. This is the minimum.
constexpr std::size_t fewest_taken = 2 * few_tasks;
// A rank passes on bounds at most this often, in seconds.
constexpr double spread_interval = 200e-6;
// A victim with nothing to give refuses its thieves after this time, in seconds.
constexpr double thief_patience = 1e-3;

}  // namespace

bool steal_run::find_work(unsigned /*thread*/) {
  share_bound();
  if (stop_wanted()) check_stop();
  auto const current = role_.debts().current();
  if (current && debts_.at(*current).waiting->size() > 0) return true;
  check_dry();  // a source without tasks
  check_quiet();
  return false;
}

void steal_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  auto const id = *role_.debts().current();
  auto& d = debts_.at(id);
  auto const most = std::min<std::size_t>(t.pace.limit(), std::max(t.takes, fewest_taken));
  auto const share =
      (d.waiting->size() + waiting_threads_) / (waiting_threads_ + 1);  // leaves tasks for the other threads
  auto const taken = std::min(most, share);
  work_.move_newest(*d.waiting, taken, *t.bag);
  bool const copies = options_.checkpoint && (stating_ || t.bag->size() <= few_tasks);
  if ((copies || role_.debts().suspect(id)) && !leave_copy(t, id)) return;
  if (t.sum_of != id) {
    t.sum = work_.make_result();
    t.sum_of = id;
    t.sum_tasks = 0;
  }
  ++d.running;
  ++running_;
  t.runs = true;
  if (waiting_threads_ > 0 && d.waiting->size() > 0) engine_.calls().work_arrived().notify_all();
  // A search with a bound begins on the root. Before it has found a good bound, thieves would run tasks that
  // are not needed: 369 instead of 36 on three ranks in the tutorial.
  quantum q{.alone = bound_ != nullptr && is_root() && tasks_run() == 0};
  lock.unlock();

  double const begin = now();
  auto const error = thrown_by([&] { run_slices(thread, q); });
  span(thread, observe::activity::compute, begin, now(), 0, q.tasks);

  lock.lock();
  --running_;
  t.runs = false;
  bool const copied = std::exchange(t.copied, false);
  if (t.bag->size() == 0) {
    t.takes = taken * 2;
  } else if (t.bag->size() > taken / 2) {
    t.takes = taken / 2;
  }
  clocks_[thread].tasks += q.tasks;
  clocks_[thread].busy += t.pace.take_busy();
  t.sum_tasks += q.tasks;
  if (auto const at = debts_.find(id); at != debts_.end()) {
    auto& mine = at->second;
    --mine.running;
    mine.copied -= copied ? 1 : 0;
    mine.changed = true;
    work_.move_newest(*t.bag, t.bag->size(), *mine.waiting);
    if (waiting_threads_ > 0 && mine.waiting->size() > 0) engine_.calls().work_arrived().notify_all();
  } else {
    t.bag = work_.make_bag();  // became void meanwhile
  }
  if (error) fail_task(*error);
  share_bound();
  serve();
  check_dry();
  check_quiet();
}

void steal_run::run_slices(unsigned thread, quantum& q) {
  auto& t = state_[thread];
  worker_info const where{rank_, thread, threads_, engine_.place.device(thread)};
  double before = now();
  double const end = before + quantum_seconds;
  while (t.bag->size() > 0) {
    std::uint64_t done = 0;
    auto const account = [&] {
      double const after = now();
      q.tasks += done;
      t.pace.measured(done, after - before);
      before = after;
    };
    try {
      work_.run(*t.bag, *t.sum, t.pace.slice(), done, where);
    } catch (...) {
      account();
      throw;
    }
    account();
    bool const wanted = !q.alone && wanted_.load(std::memory_order_relaxed);
    if (before >= end || draining_.load(std::memory_order_relaxed) || wanted) return;
    if (before - engine_.driver().last_progress() > slice_seconds) {
      not_of_the_user([&] { engine_.driver().try_progress(slice_seconds); });
      before = now();
    }
  }
}

// Merges the results that the threads have for this debt into its result, except those of threads
// still working on it.
void steal_run::gather(debt_id id) {
  for (auto& t : state_) gather_from(t, id);
}

void steal_run::gather_from(thread_state& t, debt_id id) {
  if (t.sum_of != id || t.runs) return;
  auto& d = debts_.at(id);
  t.sum_of.reset();
  work_.merge(*d.sum, *t.sum);
  d.tasks += t.sum_tasks;
}

void steal_run::check_dry() {
  while (auto const current = role_.debts().current()) {
    auto const& d = debts_.at(*current);
    if (d.waiting->size() > 0 || d.running > 0) return;
    if (auto const bad = thrown_by([&] { gather(*current); })) {
      fail_task(*bad);
      return;
    }
    role::steal_actions list;
    role_.dry(*current, list);
    perform(list);
  }
}

void steal_run::check_quiet() {
  if (!draining_ || running_ > 0 || over_) return;
  role::steal_actions list;
  role_.quiet(list);
  perform(list);
}

// Serves the waiting thieves. A debt without running threads keeps one task, because the calling
// thread is about to take it.
void steal_run::serve() {
  role::steal_actions list;
  while (!role_.thieves().empty() && !draining_) {
    auto const current = role_.debts().current();
    auto const spare = [&](auto const& entry) {
      std::size_t const keeps = entry.first == current && entry.second.running == 0 ? 1 : 0;
      auto const* const owed = role_.debts().find(entry.first);
      return owed != nullptr && entry.second.waiting->size() > keeps && role_.thieves().may_have(*owed);
    };
    auto const from = std::find_if(debts_.begin(), debts_.end(), spare);
    if (from == debts_.end()) break;
    thieves_since_ = -1;
    role_.spare(from->first, list);
    perform(list);
    last_moved_ = now();
  }
  if (role_.thieves().empty()) {
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
    share_bound();
    serve();
  } catch (std::exception const&) {
    // The transport has failed. The compute threads meet the same error and report it.
  }
}

// The role learns the bound that tasks have found, and the tasks learn that of the role.
void steal_run::share_bound() {
  if (bound_ == nullptr || over_) return;
  auto found = bound_->load(std::memory_order_relaxed);
  auto const best = role_.share(found);
  while (found < best && !bound_->compare_exchange_weak(found, best, std::memory_order_relaxed)) {
  }
  if (!role_.has_news()) return;
  double const t = now();
  if (t < spread_at_) return;
  spread_at_ = t + spread_interval;
  role::steal_actions list;
  role_.spread(list);
  perform(list);
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
  role::steal_actions list;
  role_.retry(list);
  perform(list);
}

void steal_run::rest(std::unique_lock<std::mutex>& lock, double seconds) {
  retry_when_due();
  bool const news = role_.has_news();
  if (engine_.owns_time() && (retry_at_ >= 0 || news)) {  // only an arrival would wake it earlier
    double const at = !news ? retry_at_ : retry_at_ < 0 ? spread_at_ : std::min(retry_at_, spread_at_);
    lock.unlock();
    engine_.wires().wait(std::max(at - now(), 1e-6));
    lock.lock();
  } else {
    collective_run::rest(lock, seconds);
  }
}

}  // namespace skel::detail
