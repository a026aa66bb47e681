// The threads of the engine: compute threads, a helper that drives communication while all of these are
// inside long tasks, and between skeleton calls if the transport can be called at any time, and a visitor
// that runs sinks meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "compute_pool.hpp"
#include "driver.hpp"

namespace skel::detail {

/// Seconds by which other ranks than the root wait longer before their watchdogs end the run, in case the
/// root itself hangs.
inline constexpr double watchdog_patience = 5;

/// Has a mutex of its own, which the helper holds while it takes the engine's lock. start(), stop(), wake()
/// and with_pool() take it too, so they must not be called with the engine's lock.
class helper {
 public:
  helper(driver& d, wires& w, call_table& calls, disk_service& disks, context_options const& options)
      : driver_(d), wires_(w), calls_(calls), disks_(disks), options_(options) {}
  helper(helper const&) = delete;
  helper& operator=(helper const&) = delete;
  ~helper() { stop(); }

  /// Starts the thread unless it runs or may not call the transport.
  void start();
  void stop();
  void wake();
  /// While an idle compute thread polls, the helper rests. The thread wakes it when it gets work.
  void rest(bool rests) {
    if (rests_.exchange(rests, std::memory_order_relaxed) && !rests) wakes_.notify_all();
  }
  /// Whether the calling thread belongs to the engine, and therefore runs the user's code inside a
  /// call.
  [[nodiscard]] bool owns_this_thread() const;
  /// The helper's work while all compute threads are inside long tasks: drives communication, and
  /// lets the runs handle pending work. A transport that owns time calls it while a task's time
  /// passes.
  void serve();
  /// Lets `threads - 1` pool threads call r.work(1 ...) while the caller runs `own`. Returns when
  /// all have returned.
  void with_pool(run& r, unsigned threads, std::function<void()> const& own);

 private:
  void loop();
  bool nap(std::unique_lock<std::mutex>& lock, std::chrono::duration<double> time);
  void visit();
  void visit_runs(std::unique_lock<std::mutex>& lock, bool long_ones);
  void send_visitor();
  std::unique_lock<std::mutex> drive_if_free(bool& arrived);
  void end_if_locked() const;
  [[nodiscard]] bool idle() const { return active_runs_.empty() && !(wires_.any_time() && disks_.busy()); }

  driver& driver_;
  wires& wires_;
  call_table& calls_;
  disk_service& disks_;
  context_options const& options_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::atomic<bool> rests_{false};
  std::vector<run*> active_runs_;  // inside with_pool(); under mutex_
  // What takes long has a thread of its own: messages must not wait for it, and the others must hear this
  // rank.
  std::thread visitor_;
  bool visits_due_ = false;  // under mutex_, as the others here
  std::condition_variable visits_;
  std::array<run const*, 2> visited_{};  // by the helper and the visitor: idle_work() runs
  std::condition_variable visit_ends_;
  bool ending_ = false;  // likewise
  // Time from which the helper has found the engine's lock taken.
  double locked_since_ = std::numeric_limits<double>::infinity();
  compute_pool pool_;
};

}  // namespace skel::detail
