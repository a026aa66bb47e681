#include "nff_tokens.hpp"

#include <charconv>
#include <cmath>

#include "scene.hpp"

namespace raytrace {

namespace {

constexpr double largest_number = 1e15;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

}  // namespace

std::string printable(std::string_view word) {
  std::string shown;
  for (char const c : word.substr(0, 24)) shown += c > ' ' && c < 127 ? c : '?';
  return word.size() > 24 ? shown + "..." : shown;
}

nff_tokens::nff_tokens(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {
  advance();
}

void nff_tokens::advance() {
  last_line_ = line_;
  std::size_t i = 0;
  while (i < rest_.size() && (blank(rest_[i]) || rest_[i] == '\n' || rest_[i] == '#')) {
    if (rest_[i] == '#') {
      while (i < rest_.size() && rest_[i] != '\n') ++i;
      continue;
    }
    if (rest_[i] == '\n') ++next_line_;
    ++i;
  }
  std::size_t end = i;
  while (end < rest_.size() && !blank(rest_[end]) && rest_[end] != '\n' && rest_[end] != '#') ++end;
  word_ = rest_.substr(i, end - i);
  rest_.remove_prefix(end);
  line_ = next_line_;
}

double nff_tokens::number(char const* entity, char const* what) {
  auto const text = without_plus(word_);
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    // from_chars does not tell overflow from underflow: a denormal counts as 0, an overflow is refused like
    // an infinity
    auto const exponent = text.find_first_of("eE");
    bool const tiny = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
    if (!tiny) fail_at_word(entity, std::string(what) + " of at most 1e15");
    value = 0;
  } else if (error != std::errc() || end != text.data() + text.size()) {
    fail_at_word(entity, what);
  }
  if (!std::isfinite(value)) fail_at_word(entity, std::string(what) + " that are finite");
  if (std::abs(value) > largest_number) fail_at_word(entity, std::string(what) + " of at most 1e15");
  advance();
  return value;
}

vec3d nff_tokens::triple(char const* entity, char const* what) {
  double const x = number(entity, what);
  double const y = number(entity, what);
  double const z = number(entity, what);
  return {x, y, z};
}

int nff_tokens::integer(char const* entity, char const* what, int low, int high) {
  auto const text = without_plus(word_);
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < low || value > high) fail_at_word(entity, what);
  advance();
  return value;
}

void nff_tokens::fail_on(int line, std::string const& text) const {
  throw scene_error(name_ + ":" + std::to_string(line) + ": " + text);
}

void nff_tokens::fail(std::string const& text) const { fail_on(last_line_, text); }

void nff_tokens::fail_at_word(std::string const& entity, std::string const& what) const {
  std::string const got = at_end() ? "the end of the file" : '"' + printable(word_) + '"';
  fail_on(line_, entity + " needs " + what + ", found " + got);
}

}  // namespace raytrace
