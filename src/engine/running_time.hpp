// Time-outs of a process that may be stopped meanwhile.
#pragma once

#include <algorithm>

namespace skel::detail {

/// Seconds for which this process was running, as far as it can tell: it looks at the clock once per `step`,
/// and more than two steps between two looks, as after SIGCONT or on a machine that has no time for it, count
/// as two.
class running_time {
 public:
  running_time(double now, double step) : step_(step), last_(now) {}
  /// Looks at the clock; seconds since the beginning.
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
