#include "program/signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/job_end.hpp"

namespace skel::program {

namespace {

constexpr std::array<int, 4> watched = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr unsigned char leave = 0;  // written to the pipe by the destructor

// The handler writes to this pipe and a thread reads it, because requesting a stop runs callbacks
// and takes locks, which a signal handler must not do.
std::atomic<int> pipe_end{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void skel_program_on_signal(int number) {
  int const saved = errno;
  auto const byte = static_cast<unsigned char>(number);
  [[maybe_unused]] auto const n = ::write(pipe_end.load(), &byte, 1);
  errno = saved;
}

bool is_ignored(int number) noexcept {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Signals that the parent process ignores stay ignored. skel-mpiexec relies on this: MPICH's
// launcher sends SIGUSR1 to all ranks when one is lost. The query must precede main, because
// MPICH's MPI_Init installs a handler for it.
std::array<bool, watched.size()> const ignored_from_the_start = {
    is_ignored(watched[0]), is_ignored(watched[1]), is_ignored(watched[2]), is_ignored(watched[3])};

using clock = stop_signals::clock;

int milliseconds_until(std::optional<clock::time_point> deadline) {
  if (!deadline) return -1;
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

std::optional<clock::time_point> deadline_of(std::optional<std::chrono::duration<double>> limit,
                                             clock::time_point since) {
  constexpr std::chrono::duration<double> a_century{3.2e9};
  if (!limit) return detail::end_of_job();
  if (*limit >= a_century) return std::nullopt;
  return since + std::chrono::duration_cast<clock::duration>(*limit);
}

}  // namespace

struct stop_signals::impl {
  enum : int { nothing = 0, time_limit = -1 };  // or a signal's number

  std::array<int, 2> pipe{-1, -1};
  std::array<struct sigaction, watched.size()> former{};
  std::optional<clock::time_point> deadline, end;  // the first is for the watcher alone
  std::stop_source source, retirement;
  std::atomic<int> why{nothing};
  std::thread watcher;

  void stop(int reason) {
    int expected = nothing;
    why.compare_exchange_strong(expected, reason);
    source.request_stop();
  }

  void watch() {
    for (;;) {
      pollfd waiting{pipe[0], POLLIN, 0};
      int const ready = ::poll(&waiting, 1, milliseconds_until(deadline));
      if (ready < 0 && errno != EINTR) return;
      if (ready == 0 && deadline && clock::now() >= *deadline) {
        deadline.reset();
        stop(time_limit);
      }
      if (ready <= 0) continue;
      unsigned char byte = leave;
      if (::read(pipe[0], &byte, 1) != 1) continue;
      if (byte == leave) return;
      if (byte == SIGUSR2)
        retirement.request_stop();
      else
        stop(byte);
    }
  }
};

stop_signals::stop_signals(std::optional<std::chrono::duration<double>> time_limit, clock::time_point since)
    : impl_(std::make_unique<impl>()) {
  if (::pipe2(impl_->pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  int none = -1;
  if (!pipe_end.compare_exchange_strong(none, impl_->pipe[1])) {
    for (int const end : impl_->pipe) ::close(end);
    throw std::logic_error("stop_signals: one at a time");
  }
  impl_->deadline = impl_->end = deadline_of(time_limit, since);
  impl_->watcher = std::thread([this] { impl_->watch(); });
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], nullptr, &impl_->former[i]);
    if (ignored_from_the_start[i] || is_ignored(watched[i])) continue;
    struct sigaction action {};
    action.sa_handler = &skel_program_on_signal;
    action.sa_flags = SA_RESTART | (watched[i] == SIGUSR2 ? 0 : static_cast<int>(SA_RESETHAND));
    ::sigaction(watched[i], &action, nullptr);
  }
}

stop_signals::~stop_signals() {
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &impl_->former[i], nullptr);
  [[maybe_unused]] auto const n = ::write(impl_->pipe[1], &leave, 1);
  impl_->watcher.join();
  pipe_end.store(-1);
  for (int const end : impl_->pipe) ::close(end);
}

std::stop_token stop_signals::token() const { return impl_->source.get_token(); }

std::stop_token stop_signals::retirement() const { return impl_->retirement.get_token(); }

std::optional<clock::time_point> stop_signals::end() const { return impl_->end; }

std::string stop_signals::reason() const {
  switch (impl_->why.load()) {
    case impl::nothing:
      return {};
    case impl::time_limit:
      return "the time limit";
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "a signal";
  }
}

}  // namespace skel::program
