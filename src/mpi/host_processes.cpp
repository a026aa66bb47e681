#include "host_processes.hpp"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace skel::detail {

namespace {

// Process numbers mean the same only in one namespace. 0: unknown.
std::uint64_t pid_namespace() {
  struct stat s {};
  return ::stat("/proc/self/ns/pid", &s) == 0 ? s.st_ino : 0;
}

int open_process(std::int64_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return static_cast<void>(pid), -1;
#endif
}

}  // namespace

host_processes::host_processes(MPI_Comm all, MPI_Comm here) : ends_(::epoll_create1(EPOLL_CLOEXEC)) {
  int size = 1, self = 0, rank = 0;
  MPI_Comm_size(here, &size);
  MPI_Comm_rank(here, &self);
  MPI_Comm_rank(all, &rank);
  std::array<std::int64_t, 3> const mine{rank, ::getpid(), static_cast<std::int64_t>(pid_namespace())};
  std::vector<std::array<std::int64_t, 3>> each(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), 3, MPI_INT64_T, each.data(), 3, MPI_INT64_T, here);
  for (auto const& [r, pid, space] : each) {
    if (r == rank || space == 0 || space != mine[2]) continue;
    int const process = open_process(pid);
    if (process < 0) continue;
    processes_[static_cast<int>(r)] = process;
    epoll_event event{.events = EPOLLIN, .data = {.fd = static_cast<int>(r)}};
    ::epoll_ctl(ends_, EPOLL_CTL_ADD, process, &event);
  }
}

host_processes::~host_processes() {
  for (auto const& [rank, process] : processes_) ::close(process);
  ::close(ends_);
}

std::vector<int> host_processes::ended() {
  std::array<epoll_event, 64> some;
  int const n = ::epoll_wait(ends_, some.data(), static_cast<int>(some.size()), 0);
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) {
    int const rank = some[static_cast<std::size_t>(i)].data.fd;
    ::close(processes_.at(rank));
    processes_.erase(rank);
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace skel::detail
