#include "work_wait.hpp"

#include <algorithm>
#include <chrono>

namespace skel::detail {

void work_wait::sleep(std::unique_lock<std::mutex>& lock) {
  ++threads_;
  engine_.calls().work_arrived().wait_for(lock, std::chrono::milliseconds(5));
  --threads_;
}

void work_wait::poll(double t, double idle_since, bool lone, function_reference<void(double)> rest) {
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

}  // namespace skel::detail
