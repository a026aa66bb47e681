// skel-run-ranks: starts the processes of an MPI program, in place of mpiexec. skel-run calls it for a
// command with --ranks-per-task:
//     skel-run-ranks FOLDER LINE CORES...
// starts one process of the command line LINE for each list of CORES, such as 0-3,8, and ends as they have.
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/text.hpp"
#include "skel/error.hpp"
#include "tools/run/process.hpp"
#include "tools/run/ranks/pmi_server.hpp"
#ifdef SKEL_RUN_PMIX
#include "tools/run/ranks/pmix_server.hpp"
#endif

extern char** environ;  // NOLINT: POSIX declares it in no header

namespace {

using namespace skel::commands;
using clock_type = std::chrono::steady_clock;

// From SIGTERM to SIGKILL. Shorter than that of skel-run, whose SIGKILL also ends this process, which then
// removes nothing.
constexpr std::chrono::milliseconds grace{800};

cpu_set_t cores_of(std::string_view list) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  while (auto const first = skel::program::take_number<unsigned>(list)) {
    auto last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = skel::program::take_number<unsigned>(list);
    }
    for (unsigned c = *first; last && c <= *last && c < CPU_SETSIZE; ++c) CPU_SET(c, &cores);
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  return cores;
}

// The environment of one process.
class variables {
 public:
  explicit variables(std::vector<std::string> more) : more_(std::move(more)) {
    for (char** v = environ; *v != nullptr; ++v) all_.push_back(*v);
    for (auto& v : more_) all_.push_back(v.data());
    all_.push_back(nullptr);
  }
  [[nodiscard]] char* const* data() const { return all_.data(); }

 private:
  std::vector<std::string> more_;
  std::vector<char*> all_;
};

// Scripts look for these.
void add_numbers(std::vector<std::string>& to, std::size_t rank, std::size_t size) {
  for (auto const* const name : {"RANK", "LOCAL_RANK", "NODE_RANK"})
    to.push_back("OMPI_COMM_WORLD_" + std::string(name) + "=" + std::to_string(rank));
  for (auto const* const name : {"SIZE", "LOCAL_SIZE"})
    to.push_back("OMPI_COMM_WORLD_" + std::string(name) + "=" + std::to_string(size));
}

// A descriptor that reports signals. They are blocked, also in the threads of a server that is made later.
int signals_of_this() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (int const signal : {SIGCHLD, SIGTERM}) ::sigaddset(&awaited, signal);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  int const descriptor = ::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw skel::error(std::string("signalfd: ") + std::strerror(errno));
  return descriptor;
}

// The processes of one program.
class processes {
 public:
  processes(std::string const& folder, std::string const& line, std::span<char*> cores);
  // Waits until all have ended. If one fails, the others are ended. Returns the status of the first that has,
  // as waitpid() does, or 0.
  int wait();

 private:
  void start(unsigned rank, std::string const& folder, std::string const& line);
  void reap();
  void await_event();
  void fail(int status, bool sent);
  void kill_all();
  [[nodiscard]] bool all_ended() const;

  process_states states_;
  int signals_;
#ifdef SKEL_RUN_PMIX
  pmix_server pmix_;
#endif
  pmi_server pmi_;
  std::vector<pid_t> running_;  // 0: has ended
  std::optional<int> failure_;
  clock_type::time_point kill_at_ = clock_type::time_point::max();
};

processes::processes(std::string const& folder, std::string const& line, std::span<char*> cores)
    : states_(static_cast<unsigned>(cores.size())),
      signals_(signals_of_this()),
#ifdef SKEL_RUN_PMIX
      pmix_(folder, states_),
#endif
      pmi_(states_) {
  cpu_set_t own;
  ::sched_getaffinity(0, sizeof own, &own);
  for (unsigned r = 0; r < cores.size(); ++r) {
    auto const of_rank = cores_of(cores[r]);
    // Inherited. Fails if the cores are no more there.
    if (::sched_setaffinity(0, sizeof of_rank, &of_rank) != 0) ::sched_setaffinity(0, sizeof own, &own);
    start(r, folder, line);
  }
  ::sched_setaffinity(0, sizeof own, &own);
}

void processes::start(unsigned rank, std::string const& folder, std::string const& line) {
  auto more = pmi_.variables(rank);
#ifdef SKEL_RUN_PMIX
  std::ranges::copy(pmix_.variables(rank), std::back_inserter(more));
#endif
  add_numbers(more, rank, states_.inside.size());
  // Open MPI's shared memory is in this folder, too, so that it is removed whatever happens.
  for (auto const* const name : {"btl_vader", "btl_sm", "osc_sm"})
    if (auto variable = std::string("OMPI_MCA_") + name + "_backing_directory";
        std::getenv(variable.c_str()) == nullptr)
      more.push_back(variable.append("=").append(folder));
  variables const all(std::move(more));
  process_setup setup;
  setup.in_group = true;
  setup.kept = pmi_.descriptor(rank);
  ::getrlimit(RLIMIT_NOFILE, &setup.files);
  running_.push_back(skel::commands::start(line, all.data(), setup));
  int const why = errno;
  pmi_.started(rank);
  if (running_.back() != 0) return;
  kill_all();
  throw skel::error("process " + std::to_string(rank) + ": " + std::strerror(why));
}

bool processes::all_ended() const {
  return std::ranges::all_of(running_, [](pid_t p) { return p == 0; });
}

int processes::wait() {
  while (!all_ended()) {
    await_event();
    if (int const code = states_.aborted) fail(W_EXITCODE(code, 0), false);
    reap();
    if (clock_type::now() >= kill_at_) kill_all();
  }
  if (!pmi_.refused().empty())
    std::fprintf(stderr, "skel-run: the MPI program asks for what skel-run does not do: %s\n",
                 pmi_.refused().c_str());
  return failure_.value_or(0);
}

void processes::await_event() {
  constexpr int moment = 10;  // milliseconds, until kill_at_
  auto waits = pmi_.waits();
  waits.push_back({signals_, POLLIN, 0});
  if (::poll(waits.data(), waits.size(), failure_ ? moment : -1) <= 0) return;
  for (unsigned r = 0; r + 1 < waits.size(); ++r)
    if (waits[r].revents != 0) pmi_.serve(r);
  for (signalfd_siginfo s{}; ::read(signals_, &s, sizeof s) > 0;)
    if (s.ssi_signo == SIGTERM) fail(SIGTERM, true);
}

void processes::reap() {
  for (unsigned r = 0; r < running_.size(); ++r) {
    int status = 0;
    if (running_[r] == 0 || ::waitpid(running_[r], &status, WNOHANG) != running_[r]) continue;
    running_[r] = 0;
    if (status != 0) {
      fail(status, false);
    } else if (states_.inside[r]) {  // the others may wait for it
      std::fprintf(stderr, "skel-run: process %u of the MPI program ended without MPI_Finalize\n", r);
      fail(W_EXITCODE(1, 0), false);
    }
  }
}

// `sent`: the process group has received a SIGTERM.
void processes::fail(int status, bool sent) {
  if (failure_) return;
  failure_ = status;
  kill_at_ = clock_type::now() + grace;
  if (!sent) ::kill(0, SIGTERM);  // comes here as well, where it changes nothing
}

// When this process ends, skel-run does the same with the rest of the process group.
void processes::kill_all() {
  for (pid_t const p : running_)
    if (p != 0) ::kill(p, SIGKILL);
}

// A folder that is removed in the end.
class own_folder {
 public:
  explicit own_folder(std::string const& in) : path_(in + "/" + std::to_string(::getpid())) {
    if (::mkdir(path_.c_str(), 0700) != 0) throw skel::error(path_ + ": " + std::strerror(errno));
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  own_folder(own_folder const&) = delete;
  own_folder& operator=(own_folder const&) = delete;
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

int run(char const* in, char const* line, std::span<char*> cores) {
  own_folder const folder(in);
  return processes(folder.path(), line, cores).wait();
}

// Ends this process as the first of its processes has that failed.
int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  int const signal = WTERMSIG(status);
  rlimit const no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  sigset_t only;  // a SIGTERM of fail() may still wait
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: skel-run-ranks FOLDER LINE CORES...; called by skel-run --ranks-per-task\n");
    return 2;
  }
  ::setpgid(0, 0);  // of which it is the leader already, unless a user has started it
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return end_as(run(argv[1], argv[2], std::span(argv + 3, static_cast<std::size_t>(argc) - 3)));
  } catch (std::exception const& bad) {
    std::fprintf(stderr, "skel-run: cannot start an MPI program: %s\n", bad.what());
    return 126;
  }
}
