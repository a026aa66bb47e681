// The engine's helper thread: drives communication while all compute threads are inside long tasks,
// and between skeleton calls if the transport can be called at any time.
#include <algorithm>

#include "engine.hpp"

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

// The engine that owns this thread: set for helpers and pool threads.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local engine const* owner_of_this_thread = nullptr;
}  // namespace

bool engine::owns_this_thread() const { return owner_of_this_thread == this; }

void engine::ensure_helper() {
  if (!helper_.joinable() && any_thread_ && !owns_time_) helper_ = std::thread([this] { helper_loop(); });
}

// Drives communication if no other thread is in the engine. `arrived`: whether there was a message.
std::unique_lock<std::mutex> engine::drive_if_free(bool& arrived) {
  std::unique_lock engine_lock(mutex_, std::try_to_lock);
  if (!engine_lock) {
    locked_since_ = std::min(locked_since_, now());
    if (active_runs_ > 0) end_if_locked();
    return engine_lock;
  }
  locked_since_ = std::numeric_limits<double>::infinity();
  try {
    arrived = progress();
  } catch (std::exception const&) {
    // The compute threads, or the next skeleton call, meet the same error and report it.
  }
  return engine_lock;
}

void engine::helper_loop() {
  owner_of_this_thread = this;
  auto pause = helper_shortest;
  std::unique_lock lock(helper_mutex_);
  while (!ending_) {
    bool arrived = false, nobody_waits = false;
    if (size_ == 1) {  // for what ends a task that does not return: time limits and the watchdog
      helper_wakes_.wait_for(lock, helper_of_one);
      if (!ending_ && !idle()) drive_if_free(arrived);
      continue;
    }
    if (idle()) {
      pause = helper_shortest;
      if (any_time_ && detector_.enabled()) {  // between skeleton calls a rank sends heartbeats
        helper_wakes_.wait_for(lock, std::chrono::duration<double>(detector_.interval()));
        if (!ending_ && idle()) drive_if_free(arrived);
      } else {
        helper_wakes_.wait(lock);
      }
      continue;
    }
    // A wake-up may be missed, because the notifier holds no lock; hence the time limit.
    helper_wakes_.wait_for(lock, helper_rests_ ? helper_rest : pause);
    if (ending_ || idle() || helper_rests_) continue;
    // helper_mutex_ stays locked, so no run can end meanwhile: its caller needs the mutex to leave.
    std::vector<run*> running;
    if (now() - last_progress() >= std::chrono::duration<double>(helper_shortest).count()) {
      if (auto const engine_lock = drive_if_free(arrived)) {
        for (auto const& [key, r] : runs_) running.push_back(r);
        nobody_waits = patient();
      }
    }
    for (run* const r : running) r->idle_work();
    pause = nobody_waits ? helper_rest
            : arrived    ? helper_shortest
                         : std::min<std::chrono::microseconds>(pause * 2, helper_longest);
  }
}

// A large message needs a thread driving communication on both sides until it has arrived.
bool engine::patient() const {
  for (auto const& [peer, link] : links_)
    if (link.waiting() > 0 || wires_->unsent(peer) > 0) return false;
  return !wires_->any_arriving() && !disks_.used() &&
         std::all_of(runs_.begin(), runs_.end(), [](auto const& r) { return r.second->patient(); });
}

void engine::serve() {
  std::vector<run*> running;
  {
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (!lock) return;
    progress();
    for (auto const& [key, r] : runs_) running.push_back(r);
  }
  for (run* const r : running) r->idle_work();
}

void engine::with_pool(run& r, unsigned threads, std::function<void()> const& own) {
  {
    std::lock_guard const lock(helper_mutex_);
    ensure_helper();
    ++active_runs_;
  }
  if (size_ > 1) helper_wakes_.notify_all();
  struct leaving {
    engine& of;
    ~leaving() {
      std::lock_guard const lock(of.helper_mutex_);
      --of.active_runs_;
    }
  } const on_return{*this};
  pool_.work_on(r, threads, own, [this] { owner_of_this_thread = this; });
}

}  // namespace skel::detail
