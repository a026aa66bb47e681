#include "program/sister.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

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

std::optional<std::string> run_sister(std::string const& path, std::vector<std::string> words) {
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  temporary_folder const folder;
  auto const errors = folder.file("errors");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  int const failed = ::posix_spawn(&child, path.c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw error("cannot start " + path + ": " + std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  std::ifstream file(errors);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.erase(text.find_last_not_of("\n ") + 1);
  return text.empty() ? path + " failed" : text;
}

}  // namespace skel::program
