#include "program/sister.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "base/read_file.hpp"
#include "skel/error.hpp"

extern char** environ;  // NOLINT: POSIX declares it in no header

namespace skel::program {

namespace fs = std::filesystem;

temporary_folder::temporary_folder() {
  std::string name = (fs::temp_directory_path() / "skel-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw error("cannot create a temporary folder " + name);
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  if (!kept_) fs::remove_all(path_, ignored);
}

std::string temporary_folder::keep() {
  kept_ = true;
  return path_.string();
}

std::optional<std::string> find_sister(std::string const& program) {
  std::error_code failed;
  auto const self = fs::read_symlink("/proc/self/exe", failed);
  if (auto const beside = self.parent_path() / program; !failed && ::access(beside.c_str(), X_OK) == 0)
    return beside.string();
  auto const* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (auto const found = fs::path(folder) / program; ::access(found.c_str(), X_OK) == 0)
      return found.string();
  return std::nullopt;
}

namespace {

// What a child does with its standard streams.
class file_actions {
 public:
  file_actions() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~file_actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  file_actions(file_actions const&) = delete;
  file_actions& operator=(file_actions const&) = delete;
  [[nodiscard]] posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Returns the child's number.
pid_t start(std::string const& path, std::vector<std::string> words, file_actions& files) {
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (int const failed = ::posix_spawn(&child, path.c_str(), files.get(), nullptr, arguments.data(), environ))
    throw error("cannot start " + path + ": " + std::strerror(failed));
  return child;
}

}  // namespace

std::optional<std::string> run_sister(std::string const& path, std::vector<std::string> words) {
  temporary_folder const folder;
  auto const errors = folder.file("errors");
  file_actions files;
  ::posix_spawn_file_actions_addopen(files.get(), STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  auto const child = start(path, std::move(words), files);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  auto text = detail::read_file(errors).value_or("");
  text.erase(text.find_last_not_of("\n ") + 1);
  return text.empty() ? path + " failed" : text;
}

running_sister::running_sister(std::string const& path, std::vector<std::string> words) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw error("cannot start " + path + ": " + std::strerror(errno));
  input_ = pipe[1];
  file_actions files;
  ::posix_spawn_file_actions_adddup2(files.get(), pipe[0], STDIN_FILENO);
  try {
    child_ = start(path, std::move(words), files);
  } catch (...) {
    for (int const end : pipe) ::close(end);
    throw;
  }
  ::close(pipe[0]);
}

running_sister::~running_sister() {
  constexpr auto step = std::chrono::milliseconds(10);
  constexpr int steps = 2000;
  ::close(input_);
  for (int i = 0; ::waitpid(child_, nullptr, WNOHANG) == 0; ++i) {
    if (i == steps) ::kill(child_, SIGKILL);
    std::this_thread::sleep_for(step);
  }
}

}  // namespace skel::program
