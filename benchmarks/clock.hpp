// Clocks of the benchmarks, in seconds.
#pragma once

#include <chrono>
#include <ctime>

namespace bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of this process, or of this thread, which other load does not lengthen.
inline double processor_seconds(clockid_t of = CLOCK_PROCESS_CPUTIME_ID) {
  timespec t{};
  ::clock_gettime(of, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace bench
