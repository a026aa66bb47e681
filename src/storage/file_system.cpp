#include "skel/storage/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "skel/error.hpp"
#include "storage/claim.hpp"

namespace skel::storage {

namespace {

[[noreturn]] void fail(std::string const& path, int code) {
  throw error(path + ": " + std::generic_category().message(code));
}

// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(std::string const& path, Call const& call) {
  for (;;) {
    auto const result = call();
    if (result >= 0) return result;
    if (errno != EINTR) fail(path, errno);
  }
}

class descriptor {
 public:
  descriptor(std::string const& path, int flags, unsigned mode = 0)
      : value_(uninterrupted(path, [&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); })) {}
  ~descriptor() { ::close(value_); }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};

class real_file final : public file {
 public:
  real_file(std::string path, int flags) : path_(std::move(path)), descriptor_(path_, flags, 0666) {
    struct stat status {};
    if (::fstat(descriptor_.value(), &status) != 0) fail(path_, errno);
    if (S_ISDIR(status.st_mode)) fail(path_, EISDIR);
    if (!S_ISREG(status.st_mode)) throw error(path_ + ": not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  void write(std::span<std::byte const> bytes) override {
    while (!bytes.empty()) {
      auto const n =
          uninterrupted(path_, [&] { return ::write(descriptor_.value(), bytes.data(), bytes.size()); });
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      size_ += static_cast<std::uint64_t>(n);
    }
  }

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      auto const n = uninterrupted(path_, [&] {
        return ::pread(descriptor_.value(), bytes.data() + done, bytes.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  std::uint64_t size() override { return size_; }
  void sync() override {
    uninterrupted(path_, [&] { return ::fsync(descriptor_.value()); });
  }

 private:
  std::string path_;
  descriptor descriptor_;
  std::uint64_t size_ = 0;
};

class real_files final : public file_system {
 public:
  std::unique_ptr<file> create(std::string const& path) override {
    check_claim(path);
    return std::make_unique<real_file>(path, O_RDWR | O_CREAT | O_TRUNC);
  }
  // O_NONBLOCK: a pipe under the name of a shard must not block.
  std::unique_ptr<file> open(std::string const& path) override {
    return std::make_unique<real_file>(path, O_RDONLY | O_NONBLOCK);
  }
  void rename(std::string const& from, std::string const& to) override {
    check_claim(to);
    if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, errno);
  }
  void remove(std::string const& path) override {
    check_claim(path);
    if (::unlink(path.c_str()) != 0) fail(path, errno);
  }
  std::vector<std::string> list(std::string const& directory) override {
    DIR* const open = ::opendir(directory.c_str());
    if (open == nullptr) fail(directory, errno);
    std::vector<std::string> names;
    for (errno = 0;
         auto const* const entry = ::readdir(open);)  // NOLINT(concurrency-mt-unsafe): its own stream
      if (entry->d_type != DT_DIR) names.emplace_back(entry->d_name);
    int const code = errno;
    ::closedir(open);
    if (code != 0) fail(directory, code);
    std::ranges::sort(names);
    return names;
  }
  void sync_directory(std::string const& directory) override {
    descriptor const open(directory, O_RDONLY | O_DIRECTORY);
    uninterrupted(directory, [&] { return ::fsync(open.value()); });
  }
  std::shared_ptr<void const> claim(std::string const& directory, std::string const& lost_owner) override {
    return claim_directory(directory, {}, lost_owner);
  }
};

}  // namespace

file_system& real_file_system() {
  static real_files files;
  return files;
}

}  // namespace skel::storage
