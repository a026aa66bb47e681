// The processes of the ranks on this host.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

namespace skel::detail {

/// Knows for certain, and within the time of a system call, which of them have ended: the kernel tells
/// through a descriptor of each (pidfd, Linux 5.3). Knows nothing on other kernels, nor of ranks in another
/// PID namespace. Not thread-safe.
class host_processes {
 public:
  /// Collective on `here`, the ranks of `all` on this host.
  host_processes(MPI_Comm all, MPI_Comm here);
  host_processes(host_processes const&) = delete;
  host_processes& operator=(host_processes const&) = delete;
  ~host_processes();

  /// The ranks of `all` whose processes have ended since this was last called.
  [[nodiscard]] std::vector<int> ended();

 private:
  int ends_;                      // epoll: takes as long with many processes as with one
  std::map<int, int> processes_;  // a descriptor for each rank
};

}  // namespace skel::detail
