// Determines how many cores this process may use: affinity mask and cgroup quota.
#include "cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/control_groups.hpp"

namespace skel::detail {

int usable_cores() {
  int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  // A machine may have more processors than a cpu_set_t holds: grows the set until the kernel
  // accepts it.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* const set = CPU_ALLOC(capacity);
    std::size_t const bytes = CPU_ALLOC_SIZE(capacity);
    bool const known = sched_getaffinity(0, bytes, set) == 0;
    if (known) cores = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (known) break;
  }
  double const quota = cores_of_groups();
  if (std::isfinite(quota)) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::max(1, cores);
}

int default_threads(int own_cores, int host_cores, int ranks_here) {
  return std::max(1, std::min(own_cores, host_cores / std::max(1, ranks_here)));
}

}  // namespace skel::detail
