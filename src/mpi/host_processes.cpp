#include "host_processes.hpp"

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

host_processes::host_processes(MPI_Comm all, MPI_Comm here) {
  int size = 1, self = 0, rank = 0;
  MPI_Comm_size(here, &size);
  MPI_Comm_rank(here, &self);
  MPI_Comm_rank(all, &rank);
  std::array<std::int64_t, 3> const mine{rank, ::getpid(), static_cast<std::int64_t>(pid_namespace())};
  std::vector<std::array<std::int64_t, 3>> each(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), 3, MPI_INT64_T, each.data(), 3, MPI_INT64_T, here);
  for (auto const& [r, pid, space] : each) {
    if (r == rank || space == 0 || space != mine[2]) continue;
    if (int const d = open_process(pid); d >= 0) {
      ranks_.push_back(static_cast<int>(r));
      processes_.push_back({d, POLLIN, 0});
    }
  }
}

host_processes::~host_processes() {
  for (auto const& p : processes_) ::close(p.fd);
}

std::vector<int> host_processes::ended() {
  std::vector<int> ended;
  if (::poll(processes_.data(), processes_.size(), 0) <= 0) return ended;
  for (std::size_t i = processes_.size(); i-- > 0;) {
    if ((processes_[i].revents & POLLIN) == 0) continue;
    ended.push_back(ranks_[i]);
    ::close(processes_[i].fd);
    auto const at = static_cast<std::ptrdiff_t>(i);
    processes_.erase(processes_.begin() + at);
    ranks_.erase(ranks_.begin() + at);
  }
  return ended;
}

}  // namespace skel::detail
