// The clock of a program under SMPI. SMPI replaces clock_gettime in the program, but the standard
// library's steady_clock calls it inside its shared library, where it is not replaced: skel would
// measure real time beside virtual costs. The program's own definition takes precedence.
#include <time.h>

#include <chrono>

namespace std::chrono {  // NOLINT(cert-dcl58-cpp): on purpose, and in this program only

steady_clock::time_point steady_clock::now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);  // a macro of smpicxx
  return time_point(seconds(t.tv_sec) + nanoseconds(t.tv_nsec));
}

}  // namespace std::chrono
