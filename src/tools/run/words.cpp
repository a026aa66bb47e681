#include "tools/run/words.hpp"

#include <algorithm>

namespace skel::commands {

namespace {

constexpr std::string_view needs_shell = "|&;<>()$`*?[\n";
constexpr std::string_view escaped_in_quotes = "$`\"\\";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Reads one line. A member returns false if the line needs a shell.
class reader {
 public:
  explicit reader(std::string_view line) : rest_(line) {}

  bool read() {
    while (!rest_.empty()) {
      char const c = take();
      if (is_blank(c)) {
        if (!end_word()) return false;
      } else if (!add(c)) {
        return false;
      }
    }
    return end_word();
  }
  [[nodiscard]] std::vector<std::string> words() && { return std::move(words_); }

 private:
  char take() {
    char const c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool add(char c) {
    bool const first = !in_word_;
    in_word_ = true;
    switch (c) {
      case '\0':
        return false;
      case '\'':
        return single_quotes();
      case '"':
        return double_quotes();
      case '\\':
        quoted_ = true;
        if (rest_.empty() || rest_.front() == '\n' || rest_.front() == '\0') return false;
        word_ += take();
        return true;
      default:
        if (needs_shell.find(c) != std::string_view::npos || (first && (c == '#' || c == '~'))) return false;
        if (c == '=' && words_.empty()) return false;
        if (c == '{' && !rest_.starts_with('}')) return false;  // bash as /bin/sh expands {a,b} and {1..3}
        word_ += c;
        return true;
    }
  }

  bool single_quotes() {
    quoted_ = true;
    auto const end = rest_.find('\'');
    if (end == std::string_view::npos || rest_.substr(0, end).find('\0') != std::string_view::npos)
      return false;
    word_ += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool double_quotes() {
    quoted_ = true;
    while (!rest_.empty()) {
      char const c = take();
      if (c == '"') return true;
      if (c == '$' || c == '`' || c == '\0') return false;
      if (c == '\\' && !rest_.empty()) {
        if (rest_.front() == '\n') return false;
        if (escaped_in_quotes.find(rest_.front()) != std::string_view::npos) {
          word_ += take();
          continue;
        }
      }
      word_ += c;
    }
    return false;
  }

  bool end_word() {
    if (!in_word_) return true;
    if (!quoted_ && words_.empty()) {
      // Reserved words, and a command of which the shell has a version of its own.
      static constexpr std::string_view of_shell[] = {"!", "{", "}", "echo"};
      if (std::ranges::find(of_shell, word_) != std::end(of_shell)) return false;
    }
    words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = quoted_ = false;
    return true;
  }

  std::string_view rest_;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
  bool quoted_ = false;  // a part of the word is
};

bool needs_no_quotes(std::string_view word, std::string_view also) {
  return !word.empty() && std::ranges::all_of(word, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           also.find(c) != std::string_view::npos;
  });
}

constexpr std::string_view safe = "_-+./,:@%^";
constexpr std::string_view safe_behind_first = "_-+./,:@%^=";  // no assignment

}  // namespace

std::optional<std::vector<std::string>> plain_words(std::string_view line) {
  reader r(line);
  if (!r.read()) return std::nullopt;
  return std::move(r).words();
}

std::string shell_quoted(std::string_view word) {
  if (needs_no_quotes(word, safe)) return std::string(word);
  std::string text = "'";
  for (char const c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text += '\'';
}

std::string line_of(std::span<std::string const> words) {
  std::string line;
  for (auto const& word : words) {
    if (line.empty())  // quoted, the name of a command is never one that the shell has itself
      line = word == "echo" ? "'echo'" : shell_quoted(word);
    else
      line += " " + (needs_no_quotes(word, safe_behind_first) ? word : shell_quoted(word));
  }
  return line;
}

}  // namespace skel::commands
