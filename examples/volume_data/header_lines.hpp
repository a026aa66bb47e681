// Headers of lines `key: value` or `key = value`, as in NRRD and MetaImage.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"

namespace volume_data {

class header_lines {
 public:
  enum class until : std::uint8_t { empty_line, element_data_file };
  static constexpr std::size_t longest = std::size_t{1} << 20;  ///< bytes of a header

  /// Reads lines up to an empty one (NRRD; the first line has no key, and lines that begin with #
  /// and `key:=value` are skipped), or up to MetaImage's last line. If the values are in a LIST of
  /// files, all lines behind that word are their names. Throws usage_error `path:LINE: ...`.
  header_lines(std::string path, char separator, until what);

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] std::string const& first() const noexcept { return first_; }
  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// Returns the value, or throws usage_error `path: expected a line KEY`.
  [[nodiscard]] std::string need(std::string_view key) const;
  [[nodiscard]] std::string value(std::string_view key, std::string_view otherwise) const;
  /// The names of a LIST of files, relative to the header's folder.
  [[nodiscard]] std::vector<std::string> const& listed() const noexcept { return listed_; }
  /// Whether the last line of the header was found, and the offset behind it.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

 private:
  std::string path_, first_;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> listed_;
  bool ended_ = false, lists_ = false;
  std::uint64_t end_ = 0;
};

/// The offset behind the next `lines` lines from `at`.
[[nodiscard]] std::uint64_t after_lines(std::string const& file, std::uint64_t at, std::uint64_t lines);

}  // namespace volume_data
