// Scans the tags of an XML file. That suffices for VTK's files: text between tags is data, which is
// read in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_source.hpp"

namespace volume_data {

struct xml_tag {
  std::string name;
  bool opens = true, closes = false;  ///< <a>: opens; </a>: closes; <a/>: both
  std::vector<std::pair<std::string, std::string>> attributes;
  std::size_t depth = 0;             ///< elements around this one
  std::string parent;                ///< the innermost of them
  std::uint64_t begin = 0, end = 0;  ///< bytes of the file: from '<' to behind '>'
  bool after_text = false;           ///< whether text other than white space and comments precedes this tag

  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
  [[nodiscard]] std::string_view attribute(std::string_view key, std::string_view otherwise = "") const;
};

class xml_scanner {
 public:
  explicit xml_scanner(std::string path);
  /// Returns the next tag, with references such as &quot; in attributes resolved; skips processing
  /// instructions and comments. Returns nothing at the end of the file. Throws usage_error `path:
  /// at byte N: ...` for malformed XML, for a closing tag that does not match the innermost
  /// element, or if the file ends inside an element.
  std::optional<xml_tag> next();
  /// Skips white space and this character, and returns the following position.
  std::uint64_t behind(char c);
  [[noreturn]] void fail(std::string const& text) const;

 private:
  int peek();
  int take();
  bool skip_text();
  void skip_markup();
  void skip_until(std::string_view end);
  std::string word();
  void attribute(xml_tag& tag);
  std::string value(std::string const& key);
  void reference(std::string& to);
  void nest(xml_tag& tag);
  void skip_space();

  std::string path_;
  source file_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;  // of buffer_[at_] in the file
  std::vector<std::string> open_;
};

}  // namespace volume_data
