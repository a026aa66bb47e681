// The commands of a run: lines, a template with items, or a template with the combinations of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/sweep.hpp"

namespace skel::commands {

/// Words with places for values: {} or {name}. A template of one word is a command line, which the shell
/// reads if it needs one; values are quoted in it.
class command_template {
 public:
  /// No words: the values themselves are command lines.
  explicit command_template(std::vector<std::string> words) : words_(std::move(words)) {}
  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// Whether a place has this name.
  [[nodiscard]] bool has(std::string_view name) const;
  struct named_value {
    std::string name, value;
  };
  /// The command line with all values in their places.
  [[nodiscard]] std::string line(std::vector<named_value> const& values) const;
  /// Appends a word.
  void append(std::string const& word);

 private:
  std::vector<std::string> words_;
};

/// Every rank has the list. A command is made when it is asked for: of a text the list keeps the place of
/// each entry, of a sweep nothing.
class command_list {
 public:
  /// Entries of `text`, which end with `separator`: command lines, or items for the template, which come
  /// last if it has no {}. Empty entries are left out; of command lines also blank ones and those that begin
  /// with #.
  command_list(std::string text, char separator, command_template how);
  /// Throws usage_error if the template has no place for a parameter.
  command_list(sweep values, command_template how);

  [[nodiscard]] std::uint64_t size() const { return sweep_ ? sweep_->size() : entries_.size(); }
  /// The command line.
  [[nodiscard]] std::string operator[](std::uint64_t number) const;

 private:
  std::string text_;
  char separator_ = '\n';
  std::vector<std::size_t> entries_;  // where each begins in text_
  std::optional<sweep> sweep_;
  command_template how_;
};

}  // namespace skel::commands
