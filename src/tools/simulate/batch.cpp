#include "tools/simulate/batch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::simulate {

namespace {

// Waits for any child. Returns its exit code, 1 for one that a signal has ended.
int wait_for_one() {
  int status = 0;
  while (::waitpid(-1, &status, 0) < 0)
    if (errno != EINTR) throw error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::vector<std::vector<std::string>> read_batch(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw usage_error(detail::one_line(path + ": cannot be read"));
  std::vector<std::vector<std::string>> runs;
  bool begins = true;
  for (std::string line; detail::read_line(file, line);) {
    if (!line.empty() && begins) runs.emplace_back();
    if (!line.empty()) runs.back().push_back(line);
    begins = line.empty();
  }
  if (runs.empty())
    throw usage_error(detail::one_line(path + ": contains no run, expected options line by line"));
  return runs;
}

int run_batch(std::vector<std::vector<std::string>> const& runs,
              std::function<int(std::vector<std::string>)> const& simulate) {
  auto const most = std::max(1U, std::thread::hardware_concurrency());
  unsigned running = 0;
  int failed = 0;
  auto const wait = [&] {
    int const code = wait_for_one();
    --running;
    if (failed == 0) failed = code;
  };
  for (auto const& words : runs) {
    if (running == most) wait();
    if (failed != 0) break;
    std::fflush(nullptr);  // or the child would write it again
    pid_t const child = ::fork();
    if (child < 0) throw error("cannot start a process for a simulation");
    if (child == 0) {
      int const code = simulate(words);
      std::fflush(nullptr);
      ::_exit(code);
    }
    ++running;
  }
  while (running > 0) wait();
  return failed;
}

}  // namespace skel::simulate
