// skel-run-ranks: starts the processes of an MPI program, in place of mpiexec. skel-run calls it for a
// command with --ranks-per-task:
//     skel-run-ranks FOLDER LINE CORES...
// starts one process of the command line LINE for each list of CORES, such as 0-3,8, and ends as they have.
#include <sched.h>
#include <sys/resource.h>
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
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/text.hpp"
#include "skel/error.hpp"
#include "tools/run/process.hpp"
#include "tools/run/ranks/pmix_server.hpp"

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
  void fail(int status);
  void kill_all(int signal);

  process_states states_;
  pmix_server server_;
  std::vector<pid_t> running_;  // 0: has ended
  std::optional<int> failure_;
  clock_type::time_point kill_at_ = clock_type::time_point::max();
};

processes::processes(std::string const& folder, std::string const& line, std::span<char*> cores)
    : states_(static_cast<unsigned>(cores.size())), server_(folder, states_) {
  cpu_set_t own;
  ::sched_getaffinity(0, sizeof own, &own);
  for (unsigned r = 0; r < cores.size(); ++r) {
    auto const of_rank = cores_of(cores[r]);
    ::sched_setaffinity(0, sizeof of_rank, &of_rank);  // inherited; fails if the cores are no more there
    start(r, folder, line);
  }
  ::sched_setaffinity(0, sizeof own, &own);
}

void processes::start(unsigned rank, std::string const& folder, std::string const& line) {
  auto more = server_.variables(rank);
  add_numbers(more, rank, states_.inside.size());
  // Open MPI's shared memory is in this folder, too, so that it is removed whatever happens.
  for (auto const* const name : {"vader", "sm"})
    if (auto const variable = std::string("OMPI_MCA_btl_") + name + "_backing_directory";
        std::getenv(variable.c_str()) == nullptr)
      more.push_back(variable + "=" + folder);
  variables const all(std::move(more));
  process_setup setup;
  setup.in_group = true;
  ::getrlimit(RLIMIT_NOFILE, &setup.files);
  running_.push_back(skel::commands::start(line, all.data(), setup));
  if (running_.back() != 0) return;
  int const why = errno;
  kill_all(SIGKILL);
  throw skel::error("process " + std::to_string(rank) + ": " + std::strerror(why));
}

int processes::wait() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (int const signal : {SIGCHLD, SIGTERM}) ::sigaddset(&awaited, signal);
  while (std::ranges::any_of(running_, [](pid_t p) { return p != 0; })) {
    auto const now = clock_type::now();
    if (now >= kill_at_) kill_all(SIGKILL);
    constexpr timespec second{1, 0}, moment{0, 10'000'000};
    int const signal = ::sigtimedwait(&awaited, nullptr, failure_ ? &moment : &second);
    if (int const code = states_.aborted) fail(W_EXITCODE(code, 0));
    reap();
    if (signal == SIGTERM) fail(SIGTERM);
  }
  return failure_.value_or(0);
}

void processes::reap() {
  for (unsigned r = 0; r < running_.size(); ++r) {
    int status = 0;
    if (running_[r] == 0 || ::waitpid(running_[r], &status, WNOHANG) != running_[r]) continue;
    running_[r] = 0;
    if (status != 0) {
      fail(status);
    } else if (states_.inside[r]) {  // the others may wait for it
      std::fprintf(stderr, "skel-run: process %u of the MPI program ended without MPI_Finalize\n", r);
      fail(W_EXITCODE(1, 0));
    }
  }
}

void processes::fail(int status) {
  if (failure_) return;
  failure_ = status;
  kill_at_ = clock_type::now() + grace;
  kill_all(SIGTERM);
}

void processes::kill_all(int signal) {
  for (pid_t const p : running_)
    if (p != 0) ::kill(p, signal);
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
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: skel-run-ranks FOLDER LINE CORES...; called by skel-run --ranks-per-task\n");
    return 2;
  }
  sigset_t awaited;  // blocked also in the threads of the server
  ::sigemptyset(&awaited);
  for (int const signal : {SIGCHLD, SIGTERM}) ::sigaddset(&awaited, signal);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return end_as(run(argv[1], argv[2], std::span(argv + 3, static_cast<std::size_t>(argc) - 3)));
  } catch (std::exception const& bad) {
    std::fprintf(stderr, "skel-run: cannot start an MPI program: %s\n", bad.what());
    return 126;
  }
}
