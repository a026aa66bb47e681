#include "nff_tokens.hpp"

#include <cmath>

#include "program/text.hpp"
#include "scene.hpp"

namespace raytrace {

using skel::program::printable;
using skel::program::to_number;

namespace {

constexpr double largest_number = 1e15;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

}  // namespace

nff_tokens::nff_tokens(std::string_view text, std::string name)
    : rest_(skel::program::without_mark(text)), name_(std::move(name)) {
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
  auto const value = to_number<double>(word_);
  if (!value && !to_number<long double>(word_)) fail_at_word(entity, what);
  if (value && !std::isfinite(*value)) fail_at_word(entity, std::string(what) + " that are finite");
  if (!value || std::abs(*value) > largest_number)
    fail_at_word(entity, std::string(what) + " of at most 1e15");
  advance();
  return *value;
}

vec3d nff_tokens::triple(char const* entity, char const* what) {
  double const x = number(entity, what);
  double const y = number(entity, what);
  double const z = number(entity, what);
  return {x, y, z};
}

int nff_tokens::integer(char const* entity, char const* what, int low, int high) {
  auto const value = to_number<int>(word_);
  if (!value || *value < low || *value > high) fail_at_word(entity, what);
  advance();
  return *value;
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
