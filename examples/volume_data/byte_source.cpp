#include "byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "skel/error.hpp"

namespace volume_data {

namespace {

class file_source final : public byte_source {
 public:
  file_source(std::string const& path, std::uint64_t offset, std::uint64_t length)
      : path_(path), at_(offset), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {  // NOLINT
    if (file_ < 0) refuse(errno);
    struct stat status {};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(file_);
      throw skel::usage_error(path_ + ": not a regular file");
    }
    auto const size = static_cast<std::uint64_t>(status.st_size);
    left_ = std::min(length, size - std::min(size, offset));
  }
  ~file_source() override { ::close(file_); }
  file_source(file_source const&) = delete;
  file_source& operator=(file_source const&) = delete;

  [[nodiscard]] bool skips_freely() const override { return true; }
  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size() && left_ > 0) {
      auto const want = std::min<std::uint64_t>({to.size() - done, left_, std::uint64_t{1} << 30});
      auto const got = ::pread(file_, to.data() + done, want, static_cast<off_t>(at_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(errno);
      if (got == 0) break;  // it was truncated meanwhile
      done += static_cast<std::size_t>(got);
      at_ += static_cast<std::uint64_t>(got);
      left_ -= static_cast<std::uint64_t>(got);
    }
    return done;
  }
  void skip(std::uint64_t bytes) override {
    auto const there = std::min(bytes, left_);
    at_ += there;
    left_ -= there;
    if (there < bytes) ends_too_early(bytes - there);
  }
  [[nodiscard]] std::uint64_t most() const override { return left_; }
  [[nodiscard]] bool counted() const override { return true; }
  [[nodiscard]] std::string place() const override { return fmt::format("{}: at byte {}", path_, at_); }

 private:
  [[noreturn]] void refuse(int code) const {
    throw skel::usage_error(fmt::format("{}: {}", path_, std::strerror(code)));
  }

  std::string path_;
  std::uint64_t at_;
  std::uint64_t left_ = 0;
  int file_;
};

}  // namespace

void byte_source::require(std::span<std::byte> to) {
  auto const got = read(to);
  if (got < to.size()) ends_too_early(to.size() - got);
}

void byte_source::skip(std::uint64_t bytes) {
  std::vector<std::byte> passed(std::min<std::uint64_t>(bytes, buffer_size));
  while (bytes > 0) {
    auto const part = std::min<std::uint64_t>(bytes, passed.size());
    require(std::span(passed).first(part));
    bytes -= part;
  }
}

void byte_source::expect_end() {
  std::byte more{};
  if (read(std::span(&more, 1)) != 0) goes_on();
}

void byte_source::goes_on() const { fail("expected the values to end here, more data follow"); }

void byte_source::ends_too_early(std::uint64_t missing) const {
  fail(fmt::format("the data end here, at least {} bytes too early", missing));
}

void byte_source::fail(std::string const& text) const { throw skel::usage_error(place() + ": " + text); }

source file_bytes(std::string const& path, std::uint64_t offset, std::uint64_t length) {
  return std::make_unique<file_source>(path, offset, length);
}

std::uint64_t file_length(std::string const& path) { return file_bytes(path)->most(); }

std::string read_text(std::string const& path, std::size_t most) {
  auto const file = file_bytes(path);
  if (file->most() > most)
    throw skel::usage_error(
        fmt::format("{}: {} bytes, expected a header of at most {}", path, file->most(), most));
  std::string text(file->most(), '\0');
  text.resize(file->read(std::as_writable_bytes(std::span(text))));
  return text;
}

std::string beside(std::string const& header, std::string const& name) {
  return (std::filesystem::path(header).parent_path() / name).string();
}

}  // namespace volume_data
