// The pause of a compute thread that has no work.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>

#include "engine/engine.hpp"

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
  void sleep(std::unique_lock<std::mutex>& lock) {
    ++threads_;
    engine_.calls().work_arrived().wait_for(lock, std::chrono::milliseconds(5));
    --threads_;
  }
  /// `t`: the present time. The thread is idle since `idle_since`. `lone`: it is the only compute thread.
  /// `rest(seconds)` releases the lock.
  template <class Rest>
  void poll(double t, double idle_since, bool lone, Rest const& rest) {
    constexpr double shortest_sleep = 50e-6;
    constexpr double longest_sleep = 800e-6;
    // Messages come in bursts: a root that only collects must not sleep between them.
    double const idle = t - std::max(idle_since, engine_.driver().last_arrival());
    if (idle < poll_seconds_ && lone && engine_.place.has_cores) {
      engine_.driver().poll(t, poll_seconds_);
      return;
    }
    double step = 0;
    if (idle >= spin_seconds_) {  // growing steps: the wait never exceeds the idle time so far by much
      step = std::clamp(idle / 8, shortest_sleep, longest_sleep);
      if (step == longest_sleep) engine_.helper().rest(true);  // this thread polls often enough
    }
    ++threads_;
    rest(step);
    --threads_;
    engine_.driver().progress();
  }

 private:
  engine& engine_;
  unsigned threads_ = 0;  // that wait
  double poll_seconds_ = 0;
  double spin_seconds_ = 50e-6;
};

}  // namespace skel::detail
