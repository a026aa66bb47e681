// The tags of an XML file, one after the other, without its text: enough for VTK's files, whose text is data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_source.hpp"

namespace skel::volume_data {

struct xml_tag {
  std::string name;
  bool opens = true, closes = false;  ///< <a>: opens; </a>: closes; <a/>: both
  std::vector<std::pair<std::string, std::string>> attributes;
  std::uint64_t begin = 0, end = 0;  ///< bytes of the file: from '<' to behind '>'

  [[nodiscard]] std::string_view attribute(std::string_view key, std::string_view otherwise = "") const;
};

class xml_scanner {
 public:
  explicit xml_scanner(std::string path);
  /// The next tag; declarations and comments are passed over. Nothing at the end of the file. usage_error
  /// `path: at byte N: ...` for what is no tag.
  std::optional<xml_tag> next();
  /// Passes over white space and this character, and returns where the file goes on.
  std::uint64_t behind(char c);
  [[noreturn]] void fail(std::string const& text) const;

 private:
  int peek();
  int take();
  void skip_declaration();
  std::string word();
  void attribute(xml_tag& tag);
  void skip_space();

  std::string path_;
  source file_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;  // of buffer_[at_] in the file
};

}  // namespace skel::volume_data
