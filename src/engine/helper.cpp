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
  if (thread_.joinable()) thread_.join();
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
    if (active_runs_ > 0) end_if_locked();
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

void helper::loop() {
  owner_of_this_thread = this;
  auto pause = helper_shortest;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    bool arrived = false, nobody_waits = false;
    if (wires_.size() == 1) {  // for what ends a task that does not return: time limits and the watchdog
      wakes_.wait_for(lock, helper_of_one);
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
    wakes_.wait_for(lock, rests_ ? helper_rest : pause);
    if (ending_ || idle() || rests_) continue;
    // mutex_ stays locked, so no run can end meanwhile: its caller needs the mutex to leave.
    std::vector<run*> active;
    if (wires_.now() - driver_.last_progress() >= std::chrono::duration<double>(helper_shortest).count()) {
      if (auto const engine_lock = drive_if_free(arrived)) {
        for (auto const& [key, r] : calls_.runs()) active.push_back(r);
        nobody_waits = driver_.patient();
      }
    }
    for (run* const r : active) r->idle_work();
    pause = nobody_waits ? helper_rest
            : arrived    ? helper_shortest
                         : std::min<std::chrono::microseconds>(pause * 2, helper_longest);
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
    ++active_runs_;
  }
  if (wires_.size() > 1) wakes_.notify_all();
  struct leaving {
    helper& of;
    ~leaving() {
      std::lock_guard const lock(of.mutex_);
      --of.active_runs_;
    }
  } const on_return{*this};
  pool_.work_on(r, threads, own, [this] { owner_of_this_thread = this; });
}

}  // namespace skel::detail
