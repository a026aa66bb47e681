// Determines how many cores this process may use: affinity mask and cgroup quota.
#include "cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "base/text.hpp"

namespace skel::detail {

namespace {

// Cores' worth of CPU time that the cgroup allows, or infinity. Version 2: "max 100000" or "150000 100000" in
// cpu.max of the process's own group and of each group above it; version 1: two files of the cpu controller.
double cgroup_quota() {
  double quota = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    std::string path = line.substr(3);
    while (true) {
      std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
      std::string allowed;
      double period = 0;
      if (file >> allowed >> period && period > 0)
        if (auto const time = to_number<double>(allowed)) quota = std::min(quota, *time / period);
      if (path.empty() || path == "/") break;
      path.erase(path.rfind('/'));
    }
  }
  double allowed = -1;
  double period = 0;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> allowed;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  if (allowed > 0 && period > 0) quota = std::min(quota, allowed / period);
  return quota;
}

}  // namespace

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
  double const quota = cgroup_quota();
  if (std::isfinite(quota)) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::max(1, cores);
}

int default_threads(int own_cores, int host_cores, int ranks_here) {
  return std::max(1, std::min(own_cores, host_cores / std::max(1, ranks_here)));
}

}  // namespace skel::detail
