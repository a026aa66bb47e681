#include "helper.hpp"

#include <algorithm>
#include <cstdio>

#include "exit_status.hpp"

namespace skel::detail {

namespace {
// Interval at which the helper checks whether communication is driven. It is longer while compute
// threads drive it themselves or nothing arrives, because each check takes 20 to 100 microseconds
// from them. If no rank awaits an answer and nothing is in flight, it rarely checks: otherwise two
// ranks lost 7 % of a 12 ms run.
constexpr auto helper_shortest = std::chrono::microseconds(200);
constexpr auto helper_urgent = std::chrono::microseconds(50);  // an answer will come
constexpr auto helper_longest = std::chrono::microseconds(2000);
constexpr auto helper_rest = std::chrono::microseconds(20000);
constexpr auto helper_of_one = std::chrono::milliseconds(250);  // as often as ticks

// Set for helpers and pool threads.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local helper const* owner_of_this_thread = nullptr;
}  // namespace

bool helper::owns_this_thread() const { return owner_of_this_thread == this; }

void helper::start() {
  std::lock_guard const lock(mutex_);
  if (!thread_.joinable() && wires_.any_thread() && !wires_.owns_time())
    thread_ = std::thread([this] { loop(); });
}

void helper::stop() {
  {
    std::lock_guard const lock(mutex_);
    ending_ = true;
  }
  wakes_.notify_all();
  visits_.notify_all();
  for (auto* const t : {&thread_, &visitor_})
    if (t->joinable()) t->join();
}

void helper::wake() {
  std::lock_guard const lock(mutex_);
  wakes_.notify_all();
}

// Drives communication if no other thread is in the engine. `arrived`: whether there was a message.
std::unique_lock<std::mutex> helper::drive_if_free(bool& arrived) {
  std::unique_lock engine_lock(driver_.mutex(), std::try_to_lock);
  if (!engine_lock) {
    locked_since_ = std::min(locked_since_, wires_.now());
    if (!active_runs_.empty()) end_if_locked();
    return engine_lock;
  }
  locked_since_ = std::numeric_limits<double>::infinity();
  try {
    arrived = driver_.progress();
  } catch (std::exception const&) {
    // The compute threads, or the next skeleton call, meet the same error and report it.
  }
  return engine_lock;
}

// Called without the lock by the helper, which has not got it since locked_since_.
void helper::end_if_locked() const {
  double const limit = options_.watchdog_seconds;
  double const quiet = wires_.now() - std::max(locked_since_, driver_.last_progress());
  if (limit <= 0 || quiet < limit + watchdog_patience) return;
  std::fprintf(
      stderr,
      "skel: no progress for %.0f s: rank %d: a merge, or a function that packs or unpacks, does not "
      "return\n",
      quiet, wires_.rank());
  end_process(wires_.rank(), 1);
}

// Returns whether it was woken before. A thread that sleeps for much longer than it asked to is one of a
// process that was stopped (SIGSTOP, Slurm's suspend), or has no processor.
bool helper::nap(std::unique_lock<std::mutex>& lock, std::chrono::duration<double> time) {
  constexpr double late = 0.5;
  double const begin = wires_.now();
  bool const woken = wakes_.wait_for(lock, time) == std::cv_status::no_timeout;
  double const stopped = wires_.now() - begin - time.count();
  if (stopped > late) driver_.note_stopped(stopped);
  return woken;
}

void helper::loop() {
  owner_of_this_thread = this;
  auto pause = helper_shortest;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    bool arrived = false, nobody_waits = false;
    if (wires_.size() == 1) {  // for what ends a task that does not return: time limits and the watchdog
      nap(lock, helper_of_one);
      if (!ending_ && !idle()) drive_if_free(arrived);
      continue;
    }
    if (idle()) {
      pause = helper_shortest;
      if (wires_.any_time() &&
          wires_.detector().enabled()) {  // between skeleton calls a rank sends heartbeats
        wakes_.wait_for(lock, std::chrono::duration<double>(wires_.detector().interval()));
        if (!ending_ && idle()) drive_if_free(arrived);
      } else {
        wakes_.wait(lock);
      }
      continue;
    }
    // A wake-up may be missed, because the notifier holds no lock; hence the time limit.
    bool const notified = nap(lock, rests_ ? helper_rest : pause);
    bool const for_disks = notified && disks_.busy();  // whose threads wait for each message
    if (ending_ || idle() || (rests_ && !for_disks)) continue;
    bool driven = false;
    if (for_disks ||
        wires_.now() - driver_.last_progress() >= std::chrono::duration<double>(helper_shortest).count()) {
      if (auto const engine_lock = drive_if_free(arrived)) {
        driven = true;
        nobody_waits = driver_.patient();
      }
    }
    if (driven) {
      send_visitor();
      visit_runs(lock, false);
    }
    pause = for_disks      ? helper_urgent
            : nobody_waits ? helper_rest
            : arrived      ? helper_shortest
                           : std::min<std::chrono::microseconds>(pause * 2, helper_longest);
  }
}

void helper::send_visitor() {
  if (std::ranges::none_of(active_runs_, &run::idle_work_takes_long)) return;
  if (!visitor_.joinable()) visitor_ = std::thread([this] { visit(); });
  visits_due_ = true;
  visits_.notify_one();
}

void helper::visit() {
  owner_of_this_thread = this;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    visits_.wait(lock, [&] { return visits_due_ || ending_; });
    visits_due_ = false;
    if (!ending_) visit_runs(lock, true);
  }
}

// None can end during its visit, since its caller waits for that in with_pool(); other runs of the call table
// may be about to end. Without the lock, because a sink may make a call on a team of its own.
void helper::visit_runs(std::unique_lock<std::mutex>& lock, bool long_ones) {
  auto& visited = visited_[long_ones ? 1 : 0];
  for (run* const r : std::vector(active_runs_)) {
    if (std::ranges::find(active_runs_, r) == active_runs_.end()) continue;
    if (r->idle_work_takes_long() != long_ones) continue;
    visited = r;
    lock.unlock();
    r->idle_work();
    lock.lock();
    visited = nullptr;
    visit_ends_.notify_all();
  }
}

void helper::serve() {
  std::vector<run*> active;
  {
    std::unique_lock const lock(driver_.mutex(), std::try_to_lock);
    if (!lock) return;
    driver_.progress();
    for (auto const& [key, r] : calls_.runs()) active.push_back(r);
  }
  for (run* const r : active) r->idle_work();
}

void helper::with_pool(run& r, unsigned threads, std::function<void()> const& own) {
  start();
  {
    std::lock_guard const lock(mutex_);
    active_runs_.push_back(&r);
  }
  if (wires_.size() > 1) wakes_.notify_all();
  struct leaving {
    helper& of;
    run& left;
    ~leaving() {
      std::unique_lock lock(of.mutex_);
      std::erase(of.active_runs_, &left);
      of.visit_ends_.wait(lock, [&] { return std::ranges::find(of.visited_, &left) == of.visited_.end(); });
    }
  } const on_return{*this, r};
  pool_.work_on(r, threads, own, [this] { owner_of_this_thread = this; });
}

}  // namespace skel::detail
