#include "observe/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace skel::observe {

namespace {

constexpr int default_width = 80;

int width_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return default_width;
  return size.ws_col;
}

bool is_launcher(std::string_view name) {
  // names as in /proc/N/comm, which cuts them after 15 characters
  constexpr std::array<std::string_view, 9> names = {"mpiexec", "mpirun",          "orterun",
                                                     "prterun", "orted",           "prted",
                                                     "prte",    "hydra_pmi_proxy", "mpiexec.hydra"};
  return std::ranges::any_of(names, [&](auto known) { return name.starts_with(known); });
}

std::string command_of(pid_t process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name;
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PPid:")) return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
  }
  return 0;
}

// The outermost launcher of this process; 0 if there is none on this host.
pid_t launcher() {
  pid_t found = 0;
  for (pid_t process = ::getppid(); process > 1 && is_launcher(command_of(process));
       process = parent_of(process)) {
    found = process;
  }
  return found;
}

bool standard_error_is_pipe() {
  struct stat status {};
  return ::fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

std::optional<int> error_terminal_width() {
  if (::isatty(STDERR_FILENO) == 1) return width_of(STDERR_FILENO);
  if (!standard_error_is_pipe()) return std::nullopt;
  auto const process = launcher();
  if (process == 0) return std::nullopt;
  // O_NONBLOCK: it may be a pipe without a reader. O_NOCTTY: it must not become the controlling
  // terminal.
  auto const path = "/proc/" + std::to_string(process) + "/fd/2";
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return std::nullopt;
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  auto const width = ::isatty(descriptor) == 1 ? std::optional(width_of(descriptor)) : std::nullopt;
  ::close(descriptor);
  return width;
}

}  // namespace skel::observe
