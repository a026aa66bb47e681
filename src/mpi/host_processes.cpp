#include "host_processes.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace skel::detail {

struct owned_word::page {
  robust_list entry;
  std::atomic<std::uint32_t> word;  // the number of the thread, and the kernel's mark
};

namespace {

owned_word::page* map_page(int file, int protection) {
  void* const at = ::mmap(nullptr, sizeof(owned_word::page), protection, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<owned_word::page*>(at);
}

owned_word::page const* map_page_of(std::int64_t pid, std::int64_t file) {
  if (file < 0) return nullptr;
  int const opened =
      ::open(("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return nullptr;
  auto const* const page = map_page(opened, PROT_READ);
  ::close(opened);
  return page;
}

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

owned_word::owned_word() : file_(::memfd_create("skel", MFD_CLOEXEC)) {
  if (file_ < 0) return;
  if (::ftruncate(file_, sizeof(page)) == 0) page_ = map_page(file_, PROT_READ | PROT_WRITE);
  if (page_ == nullptr) {
    ::close(std::exchange(file_, -1));
    return;
  }
  std::promise<void> owned;
  owner_ = std::thread([&] { own(owned); });
  owned.get_future().wait();
}

// A list of the thread's own, in place of the one for the mutexes of the C library, of which it locks none.
void owned_word::own(std::promise<void>& owned) {
  robust_list_head list{{&page_->entry}, 0, nullptr};
  list.futex_offset = reinterpret_cast<char*>(&page_->word) - reinterpret_cast<char*>(&page_->entry);
  page_->entry.next = &list.list;
  page_->word = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  ::syscall(SYS_set_robust_list, &list, sizeof list);
  owned.set_value();
  end_.get_future().wait();
  page_->word = 0;
  list.list.next = &list.list;
}

owned_word::~owned_word() {
  if (!owner_.joinable()) return;
  end_.set_value();
  owner_.join();
  ::munmap(page_, sizeof(page));
  ::close(file_);
}

host_processes::host_processes(MPI_Comm all, MPI_Comm here) : ends_(::epoll_create1(EPOLL_CLOEXEC)) {
  int size = 1, self = 0, rank = 0;
  MPI_Comm_size(here, &size);
  MPI_Comm_rank(here, &self);
  MPI_Comm_rank(all, &rank);
  std::array<std::int64_t, 4> const mine{rank, ::getpid(), static_cast<std::int64_t>(pid_namespace()),
                                         own_.file()};
  std::vector<std::array<std::int64_t, 4>> each(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), 4, MPI_INT64_T, each.data(), 4, MPI_INT64_T, here);
  host_ = static_cast<int>(each[0][0]);
  group_ = rank;
  for (auto const& [r, pid, space, file] : each) {
    if (space != 0 && space == mine[2]) group_ = std::min(group_, static_cast<int>(r));
    if (r == rank || space == 0 || space != mine[2]) continue;
    int const descriptor = open_process(pid);
    if (descriptor < 0) continue;
    processes_[static_cast<int>(r)] = {descriptor, map_page_of(pid, file)};
    epoll_event event{.events = EPOLLIN, .data = {.fd = static_cast<int>(r)}};
    ::epoll_ctl(ends_, EPOLL_CTL_ADD, descriptor, &event);
  }
}

host_processes::~host_processes() {
  while (!processes_.empty()) forget(processes_.begin()->first);
  ::close(ends_);
}

void host_processes::forget(int rank) {
  auto const node = processes_.extract(rank);
  if (node.empty()) return;
  auto const [descriptor, word] = node.mapped();
  ::epoll_ctl(ends_, EPOLL_CTL_DEL, descriptor, nullptr);  // a child of this process may keep it open
  ::close(descriptor);
  if (word != nullptr) ::munmap(const_cast<owned_word::page*>(word), sizeof *word);
}

std::vector<int> host_processes::ended() {
  std::array<epoll_event, 64> some;
  int const n = ::epoll_wait(ends_, some.data(), static_cast<int>(some.size()), 0);
  std::vector<int> ranks;
  ranks.reserve(some.size());
  for (int i = 0; i < n; ++i) ranks.push_back(some[static_cast<std::size_t>(i)].data.fd);
  for (auto const& [rank, p] : processes_)
    if (p.word != nullptr && (p.word->word.load(std::memory_order_relaxed) & FUTEX_OWNER_DIED) != 0 &&
        std::ranges::find(ranks, rank) == ranks.end())
      ranks.push_back(rank);
  for (int const r : ranks) forget(r);
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
