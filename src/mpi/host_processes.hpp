// The processes of the ranks on this host.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <vector>

#include "transport/idle_connections.hpp"

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
  /// The lowest rank on this host.
  [[nodiscard]] int host() const { return host_; }
  /// The lowest of the ranks here that know of each other's end; if this rank knows of none, itself.
  [[nodiscard]] int group() const { return group_; }

 private:
  int ends_;                      // epoll: takes as long with many processes as with one
  std::map<int, int> processes_;  // a descriptor for each rank
  int host_ = 0, group_ = 0;
};

/// Connects this rank to neighbours on other hosts, or in other PID namespaces. Empty if there are none.
/// Collective on `all`.
[[nodiscard]] std::unique_ptr<transport::idle_connections> connect_neighbours(MPI_Comm all,
                                                                              host_processes const& here);

}  // namespace skel::detail
