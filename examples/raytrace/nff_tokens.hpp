// The words of an NFF text with their lines, and the numbers among them.
#pragma once

#include <string>
#include <string_view>

#include "vec3.hpp"

namespace raytrace {

/// A cursor over blank-separated words. `#` starts a comment until the end of the line.
class nff_tokens {
 public:
  nff_tokens(std::string_view text, std::string name);

  [[nodiscard]] bool at_end() const { return word_.empty(); }
  [[nodiscard]] std::string_view word() const { return word_; }
  [[nodiscard]] bool on_line_of_last() const { return !at_end() && line_ == last_line_; }
  void advance();

  /// Reads a finite number of at most 1e15 (squares must fit a float). Otherwise throws `entity
  /// needs what, found "word"`.
  double number(char const* entity, char const* what);
  vec3d triple(char const* entity, char const* what);
  /// Reads an integer in [low, high].
  int integer(char const* entity, char const* what, int low, int high);

  /// Throws scene_error `name:line: text` for the line of the last consumed word.
  [[noreturn]] void fail(std::string const& text) const;
  /// Throws `name:line: entity needs what, found "word"`, with the current word and its line.
  [[noreturn]] void fail_at_word(std::string const& entity, std::string const& what) const;

 private:
  [[noreturn]] void fail_on(int line, std::string const& text) const;

  std::string_view rest_, word_;
  std::string name_;
  int next_line_ = 1, line_ = 1, last_line_ = 1;
};

}  // namespace raytrace
