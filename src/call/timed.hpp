// Measures the duration of a scope.
#pragma once

#include <chrono>

namespace skel::detail {

/// Adds the wall time of a scope to a sum, in seconds.
class timed {
 public:
  explicit timed(double& sum) : sum_(sum) {}
  ~timed() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  timed(timed const&) = delete;
  timed& operator=(timed const&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace skel::detail
