#include "skel/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "skel/error.hpp"

namespace skel {

namespace {

constexpr std::size_t buffer_size = 1 << 16;
constexpr unsigned permission_bits = 07777;

std::string without_links(std::string const& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string text(resolved);
  std::free(resolved);
  return text;
}

// Hidden, and different from the name of any other process. Contains part of the target's name, so
// leftovers after a kill -9 can be identified.
std::string temporary_name(std::string const& target) {
  static std::atomic<unsigned> counter{0};
  auto const slash = target.rfind('/');
  auto const directory = slash == std::string::npos ? std::string() : target.substr(0, slash + 1);
  auto const name = slash == std::string::npos ? target : target.substr(slash + 1);
  return directory + ".skel-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + "-" +
         name.substr(0, 100);
}

std::string by_descriptor(int file) { return "/proc/self/fd/" + std::to_string(file); }

}  // namespace

atomic_file::atomic_file(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) fail(ENOENT);
  struct stat existing {};
  if (::stat(path_.c_str(), &existing) != 0) {
    if (errno != ENOENT) fail(errno);
    // For a link to a missing file, rename would replace the link.
    char link[PATH_MAX];
    if (::readlink(path_.c_str(), link, sizeof link) >= 0) fail(ENOENT);
    open_temporary(0666);
  } else if (S_ISDIR(existing.st_mode)) {
    fail(EISDIR);
  } else if (S_ISREG(existing.st_mode) && !path_.starts_with("/dev/") && !path_.starts_with("/proc/")) {
    if (::access(path_.c_str(), W_OK) != 0) fail(errno);  // rename would replace a write-protected file
    target_ = without_links(path_);
    open_temporary(existing.st_mode & permission_bits);
    ::fchmod(descriptor_, existing.st_mode & permission_bits);
  } else {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
  }
  buffer_.reserve(buffer_size);
}

atomic_file::~atomic_file() { discard(); }

void atomic_file::open_temporary(unsigned mode) {
  // A file without a name vanishes with its process. Not all file systems have them.
  auto const slash = target_.rfind('/');
  auto const directory = slash == std::string::npos ? std::string(".") : target_.substr(0, slash + 1);
  descriptor_ = ::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (descriptor_ >= 0 && ::access(by_descriptor(descriptor_).c_str(), F_OK) != 0)
    ::close(std::exchange(descriptor_, -1));
  nameless_ = descriptor_ >= 0;
  if (nameless_) return;
  // A process on another host with the same file system may have this process number: uses O_EXCL
  // and tries the next name.
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts && descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ >= 0) return;
  int const code = errno;
  temporary_.clear();
  fail(code);
}

// A link cannot replace a file, but a rename can.
void atomic_file::name_temporary() {
  constexpr int attempts = 100;
  auto const unnamed = by_descriptor(descriptor_);
  for (int attempt = 0; nameless_ && attempt < attempts; ++attempt) {
    temporary_ = temporary_name(target_);
    nameless_ = ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0;
    if (nameless_ && errno != EEXIST) break;
  }
  if (!nameless_) return;
  int const code = errno;
  temporary_.clear();
  fail(code);
}

void atomic_file::write(std::span<std::byte const> bytes) {
  if (descriptor_ < 0) throw std::logic_error("atomic_file: write after commit");
  while (!bytes.empty()) {
    auto const part = bytes.first(std::min(bytes.size(), buffer_size - buffer_.size()));
    buffer_.insert(buffer_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (buffer_.size() == buffer_size) flush();
  }
}

void atomic_file::flush() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    auto const n = ::write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  buffer_.clear();
}

void atomic_file::commit() {
  if (descriptor_ < 0) throw std::logic_error("atomic_file: committed twice");
  flush();
  name_temporary();
  // Network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void atomic_file::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void atomic_file::fail(int code) const { throw error(path_ + ": " + std::generic_category().message(code)); }

void write_file_atomically(std::string const& path, std::string_view text) {
  atomic_file file(path);
  file.write(text);
  file.commit();
}

}  // namespace skel
