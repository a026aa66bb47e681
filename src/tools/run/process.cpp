#include "tools/run/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <vector>

#include "tools/run/words.hpp"

extern char** environ;  // NOLINT: POSIX declares it in no header

namespace skel::commands {

namespace {

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return text.starts_with(prefix); });
}

// Variables of users, such as OMPI_MCA_btl, are none.
bool tells_a_rank(std::string_view variable) {
  if (variable.starts_with("OMPI_MCA_"))
    return begins_with_one_of(variable,
                              {"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_shmem_RUNTIME",
                               "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe"});
  if (variable.starts_with("OMPI_ALLOW_RUN_AS_ROOT")) return false;
  // Those of Slurm's step, and of the hosts of the job: an mpiexec would start its ranks on the first of
  // them. Open MPI knows by SLURM_JOBID that they are there; scripts have SLURM_JOB_ID.
  if (begins_with_one_of(variable,
                         {"SLURM_STEP", "SLURM_NTASKS", "SLURM_NPROCS=", "SLURM_PROCID=", "SLURM_LOCALID=",
                          "SLURM_NODEID=", "SLURM_JOBID=", "SLURM_NODELIST=", "SLURM_JOB_NODELIST=",
                          "SLURM_NNODES=", "SLURM_JOB_NUM_NODES=", "SLURM_TASKS_PER_NODE="}))
    return true;
  // SKEL_EXIT_STATUS_FILE: a program of skel would take part in the exit code of this job.
  return begins_with_one_of(variable, {"OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "HYDI_", "MPIR_",
                                       "MPI_LOCAL", "SKEL_EXIT_STATUS_FILE=", "SKEL_TASK=", "SKEL_FROM="});
}

// The children of `parent` by /proc.
std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code failed;
  auto const tasks = "/proc/" + std::to_string(parent) + "/task";
  for (std::filesystem::directory_iterator thread(tasks, failed), end; !failed && thread != end;
       thread.increment(failed)) {
    std::ifstream list(thread->path() / "children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  return found;
}

void end_tree_below(pid_t parent, pid_t group) {
  for (auto const child : children(parent)) {
    end_tree_below(child, group);
    if (::getpgid(child) != group) ::kill(child, SIGKILL);
  }
}

// In the child of vfork(), which shares the memory of this process: no allocation, and _exit at the end.
void become(char const* const* words, char* const* environment, process_setup const& setup) {
  if (!setup.in_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &usual, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setrlimit(RLIMIT_NOFILE, &setup.files);
  if (setup.folder != nullptr && ::chdir(setup.folder) != 0) return;
  if (::dup2(setup.output, STDOUT_FILENO) < 0 || ::dup2(setup.errors, STDERR_FILENO) < 0) return;
  if (setup.kept >= 0 && ::fcntl(setup.kept, F_SETFD, 0) != 0)
    return;  // NOLINT(cppcoreguidelines-pro-type-vararg)
  ::execvpe(words[0], const_cast<char* const*>(words), environment);
}

std::vector<char const*> pointers_to(std::vector<std::string> const& words) {
  std::vector<char const*> all;
  all.reserve(words.size() + 1);
  for (auto const& word : words) all.push_back(word.c_str());
  all.push_back(nullptr);
  return all;
}

// Returns the process, 0 with errno if it could not be made or become the command.
pid_t start_words(std::vector<char const*> const& words, char* const* environment,
                  process_setup const& setup) {
  int volatile failed = 0;
  pid_t const child = ::vfork();  // NOLINT: posix_spawn() has no PR_SET_PDEATHSIG, fork() copies page tables
  if (child == 0) {
    become(words.data(), environment, setup);
    failed = errno;
    ::_exit(127);
  }
  if (child > 0 && failed == 0) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (failed != 0) errno = failed;
  return 0;
}

}  // namespace

char* const* environment_of(std::string const& task, unsigned cores) {
  static std::vector<char*> all = [cores] {
    std::vector<char*> kept;
    for (char** v = environ; *v != nullptr; ++v)
      if (!tells_a_rank(*v) && !(cores > 0 && std::string_view(*v).starts_with("OMP_NUM_THREADS=")))
        kept.push_back(*v);
    static std::string threads = "OMP_NUM_THREADS=" + std::to_string(cores);
    if (cores > 0) kept.push_back(threads.data());
    static std::string from = "SKEL_FROM=" + std::filesystem::current_path().string();
    kept.insert(kept.end(), {from.data(), nullptr, nullptr});
    return kept;
  }();
  static std::string variable;
  variable = "SKEL_TASK=" + task;
  all[all.size() - 2] = variable.data();
  return all.data();
}

pid_t start_program(std::vector<std::string> const& words, char* const* environment,
                    process_setup const& setup) {
  return start_words(pointers_to(words), environment, setup);
}

pid_t start(std::string const& line, char* const* environment, process_setup const& setup) {
  if (auto const plain = plain_words(line); plain && !plain->empty()) {
    if (auto const child = start_program(*plain, environment, setup)) return child;
    if (errno == EAGAIN || errno == ENOMEM) return 0;
  }
  // The shell also has commands without a program, and says what is wrong with the others.
  return start_words({"/bin/sh", "-c", "--", line.c_str(), nullptr}, environment, setup);
}

void end_group(pid_t leader, int signal) {
  end_tree_below(leader, leader);
  ::kill(-leader, signal);
}

void end_descendants() {
  constexpr auto step = std::chrono::milliseconds(1);
  constexpr int patience = 5000;
  for (int i = 0; i < patience; ++i) {
    for (auto const child : children(::getpid())) ::kill(child, SIGKILL);
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0) return;  // there are none: orphans of those that have ended were children first
    std::this_thread::sleep_for(step);
  }
}

}  // namespace skel::commands
