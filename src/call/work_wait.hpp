// The pause of a compute thread that has no work.
#pragma once

#include <mutex>

#include "engine/engine.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel::detail {

/// A thread that drives communication polls for a while, then sleeps for growing intervals; the others sleep
/// until work arrives. An idle rank thus costs little and answers within a millisecond. Requires the engine's
/// lock.
class work_wait {
 public:
  explicit work_wait(engine& of) : engine_(of) {}

  /// Polling time of a lone thread before it yields the core, and of any thread before it sleeps.
  void set_poll_seconds(double seconds) { poll_seconds_ = seconds; }
  void set_spin_seconds(double seconds) { spin_seconds_ = seconds; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  /// Until notified, at most for 5 ms.
  void sleep(std::unique_lock<std::mutex>& lock);
  /// `t`: the present time. The thread is idle since `idle_since`. `lone`: it is the only compute thread.
  /// `rest(seconds)` releases the lock.
  void poll(double t, double idle_since, bool lone, function_reference<void(double)> rest);

 private:
  engine& engine_;
  unsigned threads_ = 0;  // that wait
  double poll_seconds_ = 0;
  double spin_seconds_ = 50e-6;
};

}  // namespace skel::detail
