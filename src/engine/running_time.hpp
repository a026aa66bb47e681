// Time-outs for a process that may be stopped meanwhile.
#pragma once

#include <algorithm>
#include <chrono>

namespace skel::detail {

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Estimates the seconds for which this process was running. It reads the clock once per `step`. A
/// gap of more than two steps, as after SIGCONT or on an overloaded machine, counts as two steps.
class running_time {
 public:
  running_time(double now, double step) : step_(step), last_(now) {}
  /// Reads the clock. Returns the seconds since the beginning.
  double look(double now) {
    sum_ += std::min(now - last_, 2 * step_);
    last_ = now;
    return sum_;
  }
  [[nodiscard]] double step() const { return step_; }

 private:
  double step_, last_, sum_ = 0;
};

}  // namespace skel::detail
