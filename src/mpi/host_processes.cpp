#include "host_processes.hpp"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace skel::detail {

namespace {

int open_process(std::int64_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return static_cast<void>(pid), -1;
#endif
}

// Process numbers mean the same only in one namespace. 0: unknown, or the kernel has no descriptors of
// processes.
std::uint64_t pid_namespace() {
  struct stat s {};
  int const self = open_process(::getpid());
  if (self < 0) return 0;
  ::close(self);
  return ::stat("/proc/self/ns/pid", &s) == 0 ? s.st_ino : 0;
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
  host_ = static_cast<int>(each[0][0]);
  group_ = rank;
  for (auto const& [r, pid, space] : each) {
    if (space != 0 && space == mine[2]) group_ = std::min(group_, static_cast<int>(r));
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

std::unique_ptr<transport::idle_connections> connect_neighbours(MPI_Comm all, host_processes const& here) {
  int size = 1, rank = 0;
  MPI_Comm_size(all, &size);
  MPI_Comm_rank(all, &rank);
  std::vector<int> groups(static_cast<std::size_t>(size)), hosts(groups.size());
  int const group = here.group(), host = here.host();
  MPI_Allgather(&group, 1, MPI_INT, groups.data(), 1, MPI_INT, all);
  if (std::ranges::count(groups, groups[0]) == size) return nullptr;
  using card = transport::idle_connections::card;
  static_assert(std::is_trivially_copyable_v<card>);
  auto made = std::make_unique<transport::idle_connections>(rank);
  auto const [calls, expects] = transport::neighbours_of(rank, groups);
  made->expect(expects);
  std::vector<card> cards(groups.size());
  MPI_Allgather(&host, 1, MPI_INT, hosts.data(), 1, MPI_INT, all);
  MPI_Allgather(&made->own(), sizeof(card), MPI_BYTE, cards.data(), sizeof(card), MPI_BYTE, all);
  for (int const r : calls) {
    auto const at = static_cast<std::size_t>(r);
    made->call(r, cards[at], hosts[at] == host);
  }
  return made;
}

}  // namespace skel::detail
