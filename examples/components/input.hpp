// The bytes of a file, unpacked if it begins as a gzip file does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct gzFile_s;

namespace skel::components {

class input {
 public:
  /// Throws usage_error `path: reason`.
  explicit input(std::string path);

  /// Fills `to` as far as the file goes, and returns how many bytes there were. A damaged or truncated gzip
  /// file is a usage_error.
  std::size_t read(std::span<std::byte> to);
  /// The first bytes again: before anything was read.
  [[nodiscard]] std::string begins_with(std::size_t size);

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// Throws usage_error `path: at byte N: text`, N being where the next byte would be read, or `at`.
  [[noreturn]] void fail(std::string const& text) const { fail_at(position_, text); }
  [[noreturn]] void fail_at(std::uint64_t at, std::string const& text) const;

 private:
  struct closer {
    void operator()(gzFile_s* file) const;
  };
  std::string path_;
  std::uint64_t position_ = 0;
  std::unique_ptr<gzFile_s, closer> file_;
};

}  // namespace skel::components
