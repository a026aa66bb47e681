// The lines of a text and the numbers in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"

namespace skel::components {

/// Lines of a file, one after the other, in a buffer of a megabyte. They end with \n, \r\n or \r.
class text_lines {
 public:
  explicit text_lines(input& in) : in_(in), buffer_(std::size_t{1} << 20) {}

  /// Goes to the next line; false at the end of the file.
  bool next();

  [[nodiscard]] std::string_view text() const noexcept { return line_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// The next word of the line, removed from it; empty at its end.
  std::string_view word();
  /// The next word as a number from least to most; `what` is what was expected otherwise.
  std::uint64_t integer(std::string_view what, std::uint64_t least, std::uint64_t most);
  /// Throws usage_error unless the next word is a number of any kind.
  void skip_number(std::string_view what);

  /// Throws usage_error `path:line: text`.
  [[noreturn]] void fail(std::string const& text) const;
  /// Throws usage_error `path:line: expected what, got "word"`.
  [[noreturn]] void fail_at_word(std::string_view what, std::string_view word) const;

 private:
  bool refill();

  input& in_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what has not been looked at
  bool at_end_ = false;
  std::string_view line_;
  std::uint64_t number_ = 0;
};

}  // namespace skel::components
