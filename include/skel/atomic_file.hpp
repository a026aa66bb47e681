// Files that are replaced atomically: a reader sees the old content or the complete new one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel {

/// Writes a file atomically. Data goes to a temporary file in the directory of `path`, and commit()
/// renames it to `path`. Without commit(), for instance after an exception, the temporary file is
/// removed and an existing `path` is untouched. Symbolic links are followed; devices and pipes (`-o
/// /dev/null`) are written directly. An existing file keeps its permissions.
///
/// Every failure throws skel::error with the text `path: reason`.
///
///     skel::atomic_file file("out.ppm");
///     file.write("P6\n512 512\n255\n");
///     file.write(std::as_bytes(std::span(pixels)));
///     file.commit();
class atomic_file {
 public:
  /// Opens the temporary file.
  explicit atomic_file(std::string path);
  ~atomic_file();
  atomic_file(atomic_file const&) = delete;
  atomic_file& operator=(atomic_file const&) = delete;

  /// Appends `bytes`; they are buffered.
  void write(std::span<std::byte const> bytes);
  /// Appends `text`; it is buffered.
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Writes the buffer, closes and renames the file. Nothing may be written afterwards.
  void commit();

  /// The path that the constructor received.
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  [[noreturn]] void fail(int code) const;
  void open_temporary(unsigned mode);
  void name_temporary();
  void flush();
  void discard() noexcept;

  std::string path_;       // as the user gave it; error messages name it
  std::string target_;     // the target of the rename: path_ with symbolic links resolved
  std::string temporary_;  // empty: path_ is written directly, or the temporary file has no name yet
  bool nameless_ = false;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

/// Replaces the content of `path` by `text`, atomically. Throws skel::error like atomic_file.
void write_file_atomically(std::string const& path, std::string_view text);

}  // namespace skel
