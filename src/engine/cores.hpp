// How many cores this process may use, and how many threads a rank has on them.
#pragma once

namespace skel::detail {

/// Compute threads that a rank may have.
inline constexpr int most_threads = 4096;

/// This process's share of the cores it may use (affinity mask and cgroup quota), if `ranks_here` ranks share
/// the host and may use `host_cores` cores together. At least 1.
[[nodiscard]] int default_threads(int own_cores, int host_cores, int ranks_here);
/// Cores this process may use: its affinity mask, limited by the cgroup's CPU quota (rounded up). At least 1.
[[nodiscard]] int usable_cores();

}  // namespace skel::detail
