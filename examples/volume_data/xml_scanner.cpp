#include "xml_scanner.hpp"

#include <fmt/format.h>

#include "characters.hpp"
#include "skel/error.hpp"

namespace skel::volume_data {

namespace {

constexpr std::size_t longest_word = 4096;
constexpr std::size_t most_attributes = 64;

bool is_name(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':';
}

}  // namespace

std::string_view xml_tag::attribute(std::string_view key, std::string_view otherwise) const {
  for (auto const& [own, value] : attributes)
    if (own == key) return value;
  return otherwise;
}

xml_scanner::xml_scanner(std::string path)
    : path_(std::move(path)), file_(file_bytes(path_)), buffer_(byte_source::buffer_size) {}

int xml_scanner::peek() {
  if (at_ == end_) {
    end_ = file_->read(buffer_);
    at_ = 0;
    if (end_ == 0) return -1;
  }
  return static_cast<int>(buffer_[at_]);
}

int xml_scanner::take() {
  int const c = peek();
  if (c >= 0) {
    ++at_;
    ++offset_;
  }
  return c;
}

void xml_scanner::fail(std::string const& text) const {
  throw usage_error(fmt::format("{}: at byte {}: {}", path_, offset_, text));
}

void xml_scanner::skip_space() {
  while (is_space(peek())) take();
}

std::string xml_scanner::word() {
  std::string text;
  while (is_name(peek())) {
    if (text.size() == longest_word) fail("expected a name, got more than 4096 characters");
    text += static_cast<char>(take());
  }
  if (text.empty()) fail("expected a name");
  return text;
}

void xml_scanner::attribute(xml_tag& tag) {
  if (tag.attributes.size() == most_attributes) fail("expected at most 64 attributes");
  auto key = word();
  skip_space();
  if (take() != '=') fail(fmt::format("expected = after {}", key));
  skip_space();
  int const quote = take();
  if (quote != '"' && quote != '\'') fail(fmt::format("expected \" after {}=", key));
  std::string value;
  for (int c = take(); c != quote; c = take()) {
    if (c < 0 || value.size() == longest_word) fail(fmt::format("the value of {} does not end", key));
    value += static_cast<char>(c);
  }
  tag.attributes.emplace_back(std::move(key), std::move(value));
}

// <? ... ?>, <!-- ... -->, <! ... >, behind its first two characters.
void xml_scanner::skip_declaration() {
  bool comment = false;
  if (peek() == '-') {
    take();
    comment = peek() == '-';
  }
  int before = 0;
  int before_that = 0;
  for (int c = take(); c >= 0; before_that = before, before = c, c = take())
    if (c == '>' && (!comment || (before == '-' && before_that == '-'))) return;
  fail("a declaration or comment does not end");
}

std::optional<xml_tag> xml_scanner::next() {
  for (;;) {
    int c = take();
    while (c >= 0 && c != '<') c = take();
    if (c < 0) return std::nullopt;
    xml_tag tag;
    tag.begin = offset_ - 1;
    if (peek() == '?' || peek() == '!') {
      take();
      skip_declaration();
      continue;
    }
    if (peek() == '/') {
      take();
      tag.opens = false;
      tag.closes = true;
    }
    tag.name = word();
    for (skip_space(); peek() != '>' && peek() != '/'; skip_space()) {
      if (peek() < 0) fail(fmt::format("<{} does not end", tag.name));
      attribute(tag);
    }
    if (peek() == '/') {
      take();
      tag.closes = true;
    }
    if (take() != '>') fail(fmt::format("expected > at the end of <{}", tag.name));
    tag.end = offset_;
    return tag;
  }
}

std::uint64_t xml_scanner::behind(char c) {
  skip_space();
  if (take() != c) fail(fmt::format("expected {}", c));
  return offset_;
}

}  // namespace skel::volume_data
