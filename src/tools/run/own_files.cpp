#include "tools/run/own_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "skel/error.hpp"

namespace skel::commands {

namespace fs = std::filesystem;

namespace {

constexpr char const* extensions[] = {".out", ".err"};

// Identifies this process on all hosts.
std::string const& mark() {
  static std::string const text = [] {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return std::string(host) + "." + std::to_string(::getpid());
  }();
  return text;
}

int opened(std::string const& path) {
  int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw error(path + ": " + std::strerror(errno));
  return file;
}

void rename(std::string const& from, std::string const& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw error(to + ": " + std::strerror(errno));
}

}  // namespace

void own_files::check(surroundings const& where) {
  if (!where.have_files()) return;
  auto const& folder = where.folders.empty() ? where.files : where.folders;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed && ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    failed.assign(errno, std::generic_category());
  if (failed)
    throw usage_error((where.folders.empty() ? "--files: " : "--folders: ") + folder + ": " +
                      failed.message());
}

own_files::own_files(surroundings const& where, std::uint64_t number) {
  auto const name = std::to_string(number);
  auto const now = "." + name + "." + mark();
  if (!where.folders.empty()) {
    final_folder_ = fs::path(where.folders) / name;
    auto const folder = fs::path(where.folders) / now;
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw error(folder.string() + ": " + failed.message());
    folder_ = folder;
    output_ = opened(folder / "stdout");
    errors_ = opened(folder / "stderr");
  } else if (!where.files.empty()) {
    std::error_code failed;
    fs::create_directories(where.files, failed);
    if (failed) throw error(where.files + ": " + failed.message());
    final_files_ = fs::path(where.files) / name;
    files_ = fs::path(where.files) / now;
    output_ = opened(files_ + extensions[0]);
    errors_ = opened(files_ + extensions[1]);
  }
}

own_files::~own_files() {
  close();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
  if (!files_.empty())
    for (auto const* const extension : extensions) fs::remove(files_ + extension, ignored);
}

void own_files::close() {
  for (int* const file : {&output_, &errors_})
    if (*file >= 0) ::close(std::exchange(*file, -1));
}

void own_files::keep() {
  close();
  if (!folder_.empty()) {
    std::error_code failed;
    fs::remove_all(final_folder_, failed);
    if (failed) throw error(final_folder_ + ": " + failed.message());
    rename(folder_, final_folder_);
    folder_.clear();
  }
  if (!files_.empty()) {
    for (auto const* const extension : extensions) rename(files_ + extension, final_files_ + extension);
    files_.clear();
  }
}

std::int64_t own_files::written(surroundings const& where, std::uint64_t number) {
  auto const name = std::to_string(number);
  auto const file = where.folders.empty() ? fs::path(where.files) / (name + extensions[0])
                                          : fs::path(where.folders) / name / "stdout";
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return 0;
  return std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
}

}  // namespace skel::commands
