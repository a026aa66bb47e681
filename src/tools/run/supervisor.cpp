#include "tools/run/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "skel/error.hpp"
#include "skel/transfer.hpp"
#include "tools/run/messages.hpp"
#include "tools/run/process.hpp"
#include "tools/run/running_commands.hpp"

namespace skel::commands {

namespace {

// Its own session: neither the terminal nor a launcher that ends the process group of the rank reaches it.
[[noreturn]] void be_supervisor(int main) {
  ::setsid();
  ::prctl(PR_SET_NAME, "skel-supervisor");  // `killall skel-run` leaves it, to end the commands
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  if (int const none = ::open("/dev/null", O_RDONLY | O_CLOEXEC); none >= 0) ::dup2(none, STDIN_FILENO);
  rlimit files{};  // of the commands; a command that runs takes up to three of the supervisor's
  ::getrlimit(RLIMIT_NOFILE, &files);
  rlimit const all{files.rlim_max, files.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &all);
  try {
    running_commands commands(main, files);
    while (commands.serve()) {
    }
  } catch (std::exception const& bad) {
    std::fprintf(stderr, "skel-run: supervisor: %s\n", bad.what());
  }
  end_descendants();
  ::_exit(0);
}

}  // namespace

supervisor::supervisor() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw error(std::string("cannot make a supervisor: ") + std::strerror(errno));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  process_ = ::fork();
  if (process_ < 0) throw error(std::string("cannot make a supervisor: ") + std::strerror(errno));
  if (process_ == 0) {
    ::close(ends[0]);
    be_supervisor(ends[1]);
  }
  ::close(ends[1]);
  main_ = ends[0];
}

supervisor::~supervisor() {
  ::close(main_);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    end_descendants();  // it was killed meanwhile: its commands are children of this process
}

supervisor::connection::~connection() {
  if (socket_ >= 0) ::close(socket_);
}

// Its commands are children of this process now.
void supervisor::lost() {
  std::fprintf(stderr, "skel-run: the supervisor of this rank was killed, so the rank ends\n");
  end_descendants();
  std::raise(SIGKILL);
  std::abort();
}

outcome supervisor::run(connection& by, request const& what) {
  if (by.socket_ < 0) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw error(std::string("cannot reach the supervisor: ") + std::strerror(errno));
    bool const sent = send_descriptor(main_, ends[1]);
    ::close(ends[1]);
    by.socket_ = ends[0];
    if (!sent) lost();
  }
  std::vector<std::byte> message;
  pack(what, message);
  auto const answer = send_block(by.socket_, message) ? receive_block(by.socket_) : std::vector<std::byte>{};
  if (answer.empty()) {
    constexpr int patience = 1000;  // a process that is killed closes one descriptor after the other
    pollfd main{main_, 0, 0};
    if (::poll(&main, 1, patience) != 0) lost();
    ::close(std::exchange(by.socket_, -1));  // it lives, so it had no descriptor for this connection
    throw error(std::string("too many commands run at once: ") + std::strerror(EMFILE) + ": " +
                what.what.line);
  }
  std::span<std::byte const> bytes = answer;
  auto got = unpack<reply>(bytes);
  if (!got.error.empty()) throw error(got.error + ": " + what.what.line);
  return std::move(got.how);
}

}  // namespace skel::commands
