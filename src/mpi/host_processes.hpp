// The processes of the ranks on this host.
#pragma once

#include <mpi.h>

#include <future>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "transport/idle_connections.hpp"

namespace skel::detail {

/// A word in shared memory, of one thread. The kernel marks it when the thread ends (a robust futex), before
/// anything else of a process that is killed. Its descriptor (pidfd) follows when its memory is free: 50 us
/// per MB later.
class owned_word {
 public:
  owned_word();
  owned_word(owned_word const&) = delete;
  owned_word& operator=(owned_word const&) = delete;
  /// The word is no longer owned, and not marked.
  ~owned_word();
  /// What other processes map; -1: nothing.
  [[nodiscard]] int file() const { return file_; }

  struct page;

 private:
  void own(std::promise<void>& owned);

  int file_ = -1;
  page* page_ = nullptr;
  std::promise<void> end_;
  std::thread owner_;
};

/// Knows for certain, and soon, which of them have ended, by their words and by descriptors of them (pidfd,
/// Linux 5.3). Knows nothing on other kernels, nor of ranks in another PID namespace. Not thread-safe.
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
  struct process {
    int descriptor = -1;
    owned_word::page const* word = nullptr;
  };
  void forget(int rank);

  owned_word own_;
  int ends_;                          // epoll: takes as long with many processes as with one
  std::map<int, process> processes_;  // by rank
  int host_ = 0, group_ = 0;
};

/// Connects this rank to neighbours on other hosts, or in other PID namespaces. Empty if there are none.
/// Collective on `all`.
[[nodiscard]] std::unique_ptr<transport::idle_connections> connect_neighbours(MPI_Comm all,
                                                                              host_processes const& here);

}  // namespace skel::detail
