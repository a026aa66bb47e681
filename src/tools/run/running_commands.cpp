#include "tools/run/running_commands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "skel/error.hpp"
#include "skel/transfer.hpp"
#include "tools/run/messages.hpp"
#include "tools/run/process.hpp"

namespace skel::commands {

namespace {

constexpr std::chrono::seconds grace{1};  // from SIGTERM to SIGKILL

double seconds_of(timeval const& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

bool are_one(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// A pipe: the relay has the reading end.
class writing_end {
 public:
  writing_end(std::unique_ptr<line_relay>& relay, shared_output& to, std::string const& prefix) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    relay = std::make_unique<line_relay>(ends[0], to, prefix);
    descriptor_ = ends[1];
  }
  ~writing_end() { ::close(descriptor_); }
  writing_end(writing_end const&) = delete;
  writing_end& operator=(writing_end const&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

void send_answer(int connection, outcome how, std::string problem) {
  std::vector<std::byte> message;
  pack(reply{std::move(how), std::move(problem)}, message);
  static_cast<void>(send_block(connection, message));  // a rank that has ended is noticed by serve()
}

}  // namespace

running_commands::running_commands(int main, rlimit files)
    : main_(main),
      files_(files),
      output_{STDOUT_FILENO},
      errors_{STDERR_FILENO},
      one_output_(are_one(STDOUT_FILENO, STDERR_FILENO)) {
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  // The rank decides what these mean. Blocked, not ignored: commands start without a mask.
  sigset_t blocked = ended;
  for (int const signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  children_ = ::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children_ < 0) throw error(std::string("signalfd: ") + std::strerror(errno));
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  host_ = name.data();
}

// Before their files are removed, the commands that still run must end.
running_commands::~running_commands() {
  end_descendants();
  ::close(children_);
}

int running_commands::milliseconds_left() const {
  auto first = clock::time_point::max();
  for (auto const& c : running_) {
    first = std::min(first, c.next_signal);
    for (auto const* const relay : {&c.output, &c.errors})  // another relay was waiting when these were tried
      if (c.process == 0 && *relay && (*relay)->has_more()) return 0;
  }
  if (first == clock::time_point::max()) return -1;
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(first - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

bool running_commands::serve() {
  std::vector<pollfd> waiting{{main_, POLLIN, 0}, {children_, POLLIN, 0}};
  for (int const c : connections_) waiting.push_back({c, POLLIN, 0});
  auto const relays = waiting.size();
  std::vector<line_relay*> relay_of;
  auto const wait_for = [&](int descriptor, short what, line_relay* relay) {
    waiting.push_back({descriptor, what, 0});
    relay_of.push_back(relay);
  };
  for (auto const* const output : {&output_, &errors_})
    if (output->waiting != nullptr) wait_for(output->descriptor, POLLOUT, output->waiting);
  for (auto& c : running_)
    for (auto const* const relay : {&c.output, &c.errors})
      if (*relay && (*relay)->descriptor() >= 0) wait_for((*relay)->descriptor(), POLLIN, relay->get());
  if (::poll(waiting.data(), waiting.size(), milliseconds_left()) < 0 && errno != EINTR)
    throw error(std::string("poll: ") + std::strerror(errno));
  for (std::size_t i = relays; i < waiting.size(); ++i)
    if (waiting[i].revents != 0) relay_of[i - relays]->pass();
  reap();
  answer_ended();
  end_late_ones();
  for (std::size_t i = 2; i < relays; ++i) {
    if (waiting[i].revents == 0) continue;
    auto const message = receive_block(waiting[i].fd);
    if (message.empty()) {  // its thread has ended
      ::close(waiting[i].fd);
      std::erase(connections_, waiting[i].fd);
      continue;
    }
    std::span<std::byte const> bytes = message;
    accept(unpack<request>(bytes), waiting[i].fd);
  }
  if (waiting[0].revents == 0) return true;
  auto const connection = receive_descriptor(main_);
  if (connection && *connection >= 0) connections_.push_back(*connection);
  return connection.has_value();
}

void running_commands::accept(request const& what, int connection) {
  try {
    running_.emplace_back(connection, what);
  } catch (error const& bad) {
    send_answer(connection, {}, bad.what());
    return;
  }
  auto const command = std::prev(running_.end());
  try {
    begin(what, *command);
  } catch (error const& bad) {
    send_answer(connection, {}, bad.what());
    running_.erase(command);
  }
}

void running_commands::begin(request const& what, one& command) {
  auto const number = std::to_string(what.what.number);
  process_setup setup{files_, command.files.output(), command.files.errors(), nullptr};
  if (!command.files.folder().empty()) setup.folder = command.files.folder().c_str();
  std::optional<writing_end> output, errors;
  if (setup.output < 0) {
    auto const prefix = what.where.plain ? "" : number + ": ";
    setup.output = output.emplace(command.output, output_, prefix).descriptor();
    setup.errors = errors.emplace(command.errors, one_output_ ? output_ : errors_, prefix).descriptor();
  }
  command.how.host = host_;
  command.how.began =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  command.began = clock::now();
  auto* const environment = environment_of(number, what.where.cores);
  command.process =
      what.cores.empty() ? start(what.what.line, environment, setup) : ranks_.start(what, environment, setup);
  int const failed = errno;
  command.files.close();
  if (command.process == 0) throw error(std::string("cannot start the command: ") + std::strerror(failed));
  constexpr double forever = 1e9;
  if (what.where.limit_seconds > 0 && what.where.limit_seconds < forever)
    command.next_signal = command.began + std::chrono::duration_cast<clock::duration>(
                                              std::chrono::duration<double>(what.where.limit_seconds));
}

// What a command leaves in its process group ends with it, before its process number is free again.
void running_commands::reap() {
  signalfd_siginfo told{};
  while (::read(children_, &told, sizeof told) > 0) {
  }
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    auto const command = std::ranges::find(running_, ended.si_pid, &one::process);
    if (command == running_.end())
      ::waitpid(ended.si_pid, nullptr, 0);  // an orphan of a command
    else
      end(command);
  }
}

void running_commands::end(place command) {
  ::kill(-command->process, SIGKILL);
  int status = 0;
  rusage used{};
  ::wait4(command->process, &status, 0, &used);
  auto& how = command->how;
  how.seconds = std::chrono::duration<double>(clock::now() - command->began).count();
  how.user = seconds_of(used.ru_utime);
  how.system = seconds_of(used.ru_stime);
  how.peak = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (WIFSIGNALED(status)) how.signal = WTERMSIG(status);
  if (WIFEXITED(status)) how.exit_code = WEXITSTATUS(status);
  for (auto const* const relay : {&command->output, &command->errors})
    if (*relay) (*relay)->finish();
  command->process = 0;
  command->next_signal = clock::time_point::max();
}

// Those whose output has been passed on.
void running_commands::answer_ended() {
  for (auto command = running_.begin(); command != running_.end();) {
    bool finished = command->process == 0;
    for (auto const* const relay : {&command->output, &command->errors})
      if (command->process == 0 && *relay) {
        (*relay)->pass();
        finished = finished && (*relay)->finished();
      }
    if (finished) answer(*command);
    command = finished ? running_.erase(command) : std::next(command);
  }
}

void running_commands::answer(one& command) {
  std::string problem;
  for (auto const* const relay : {&command.output, &command.errors})
    if (*relay && (*relay)->error() != 0)
      problem = std::string("what it printed is incomplete: ") + std::strerror((*relay)->error());
  try {
    command.files.keep();
    if (command.where.have_files()) command.how.written = own_files::written(command.where, command.number);
  } catch (error const& bad) {
    problem = bad.what();
  }
  send_answer(command.connection, std::move(command.how), problem);
}

void running_commands::end_late_ones() {
  auto const now = clock::now();
  for (auto& c : running_) {
    if (c.next_signal > now) continue;
    end_group(c.process, c.how.late ? SIGKILL : SIGTERM);
    c.how.late = true;
    c.next_signal = now + grace;
  }
}

}  // namespace skel::commands
