// The tags of an XML file with their positions, by expat. Text between tags is data, which the
// readers of arrays read in place.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_source.hpp"

struct XML_ParserStruct;

namespace volume_data {

struct xml_tag {
  std::string name;   ///< all text is UTF-8
  bool opens = true;  ///< <a>, else </a>; <a/> gives both
  std::vector<std::pair<std::string, std::string>> attributes;
  std::size_t depth = 0;             ///< elements around this one
  std::string parent;                ///< the innermost of them
  std::uint64_t begin = 0, end = 0;  ///< bytes of the file: from '<' to behind '>'
  bool after_text = false;           ///< whether text other than white space and comments precedes this tag

  [[nodiscard]] std::string_view attribute(std::string_view key, std::string_view otherwise = "") const;
};

/// Reads a file in pieces of 64 KB. No tag may have more than 4 MiB, and no element may be inside of
/// more than 64; a document type, which could define entities, is refused.
class xml_tags {
 public:
  /// `last`: the element at whose opening tag reading ends, because no XML needs to follow.
  xml_tags(std::string path, std::string last);
  /// Returns the next tag, or nothing at the end. Throws usage_error `path: at byte N: ...` for
  /// malformed XML.
  std::optional<xml_tag> next();
  /// The position behind the first byte other than white space from `offset` on, which must be `c`.
  [[nodiscard]] std::uint64_t behind(char c, std::uint64_t offset) const;
  /// Throws usage_error with the position of the tag returned last.
  [[noreturn]] void fail(std::string const& text) const { fail_at(tag_at_, text); }

 private:
  struct handlers;  // expat's
  struct free_parser {
    void operator()(XML_ParserStruct* parser) const;
  };
  void parse();
  [[nodiscard]] std::uint64_t place() const;
  [[noreturn]] void fail_at(std::uint64_t offset, std::string const& text) const;

  std::string path_, last_;
  source file_;
  std::unique_ptr<XML_ParserStruct, free_parser> parser_;
  std::deque<xml_tag> tags_;         // parsed, not yet returned
  std::vector<std::string> open_;    // elements
  std::exception_ptr error_;         // of a handler: expat is C, exceptions must not pass through it
  std::uint64_t given_ = 0;          // bytes of the file that expat has received
  std::uint64_t unfinished_at_ = 0;  // where expat needs more of them
  std::uint64_t tag_at_ = 0;
  bool text_ = false, ended_ = false;
};

}  // namespace volume_data
