#include "xml_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "characters.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

constexpr std::size_t longest_word = 4096;
constexpr std::size_t longest_reference = 10;  // &#x10ffff;
constexpr std::size_t most_attributes = 64;
constexpr std::size_t deepest = 64;

bool is_name(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':';
}

constexpr std::array<std::pair<std::string_view, char>, 5> entities{
    {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}}};

void append_utf8(std::string& to, std::uint32_t c) {
  auto const rest = [&](unsigned shift) { to += static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0U | c >> 6U);
    rest(0);
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0U | c >> 12U);
    rest(6);
    rest(0);
  } else {
    to += static_cast<char>(0xf0U | c >> 18U);
    rest(12);
    rest(6);
    rest(0);
  }
}

/// Resolves &name; to a character. Returns false if the name is unknown.
bool resolve(std::string_view name, std::string& to) {
  for (auto const& [known, c] : entities)
    if (name == known) {
      to += c;
      return true;
    }
  bool const hexadecimal = name.starts_with("#x");
  if (!name.starts_with('#')) return false;
  name.remove_prefix(hexadecimal ? 2 : 1);
  std::uint32_t c = 0;
  auto const [end, code] = std::from_chars(name.data(), name.data() + name.size(), c, hexadecimal ? 16 : 10);
  if (code != std::errc{} || end != name.data() + name.size() || c == 0 || c > 0x10ffff) return false;
  append_utf8(to, c);
  return true;
}

}  // namespace

std::optional<std::string_view> xml_tag::find(std::string_view key) const {
  for (auto const& [own, value] : attributes)
    if (own == key) return value;
  return std::nullopt;
}

std::string_view xml_tag::attribute(std::string_view key, std::string_view otherwise) const {
  return find(key).value_or(otherwise);
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
  throw skel::usage_error(fmt::format("{}: at byte {}: {}", path_, offset_, text));
}

void xml_scanner::skip_space() {
  while (is_space(peek())) take();
}

// Advances to the next '<' or the end of the file. Returns true if anything but white space was
// skipped.
bool xml_scanner::skip_text() {
  skip_space();
  bool const found = peek() >= 0 && peek() != '<';
  while (peek() >= 0 && peek() != '<') take();
  return found;
}

void xml_scanner::skip_until(std::string_view end) {
  std::string last;  // characters, at most as many as `end` has
  for (int c = take(); c >= 0; c = take()) {
    if (last.size() == end.size()) last.erase(0, 1);
    last += static_cast<char>(c);
    if (last == end) return;
  }
  fail(fmt::format("expected {} before the end of the file", end));
}

// Skips <? ... ?> or <!-- ... -->, from behind the '<' on.
void xml_scanner::skip_markup() {
  if (take() == '?') return skip_until("?>");
  if (take() != '-' || take() != '-') fail("expected a tag or a comment behind <");
  skip_until("-->");
}

std::string xml_scanner::word() {
  std::string text;
  while (is_name(peek())) {
    if (text.size() == longest_word) fail("expected a name, found more than 4096 characters");
    text += static_cast<char>(take());
  }
  if (text.empty()) fail("expected a name");
  return text;
}

// Resolves a reference from behind the '&' on.
void xml_scanner::reference(std::string& to) {
  std::string name;
  while (name.size() < longest_reference && (is_name(peek()) || peek() == '#'))
    name += static_cast<char>(take());
  if (take() != ';' || !resolve(name, to))
    fail(fmt::format("expected &lt; &gt; &amp; &quot; &apos; or &#NUMBER;, found &{}", name));
}

std::string xml_scanner::value(std::string const& key) {
  int const quote = take();
  if (quote != '"' && quote != '\'') fail(fmt::format("expected \" after {}=", key));
  std::string value;
  for (int c = take(); c != quote; c = take()) {
    if (c < 0 || value.size() >= longest_word) fail(fmt::format("the value of {} does not end", key));
    if (c == '<') fail(fmt::format("expected &lt; in the value of {}, found <", key));
    if (c == '&')
      reference(value);
    else
      value += static_cast<char>(c);
  }
  return value;
}

void xml_scanner::attribute(xml_tag& tag) {
  if (tag.attributes.size() == most_attributes) fail("expected at most 64 attributes");
  auto key = word();
  if (tag.find(key)) fail(fmt::format("{} is there twice", key));
  skip_space();
  if (take() != '=') fail(fmt::format("expected = after {}", key));
  skip_space();
  auto text = value(key);
  tag.attributes.emplace_back(std::move(key), std::move(text));
}

void xml_scanner::nest(xml_tag& tag) {
  if (!tag.opens) {
    if (open_.empty() || open_.back() != tag.name)
      fail(fmt::format("expected {}, found </{}>",
                       open_.empty() ? "a tag that opens" : "</" + open_.back() + ">", tag.name));
    open_.pop_back();
  }
  tag.depth = open_.size();
  if (!open_.empty()) tag.parent = open_.back();
  if (tag.closes) return;
  if (open_.size() == deepest) fail("expected at most 64 elements in each other");
  open_.push_back(tag.name);
}

std::optional<xml_tag> xml_scanner::next() {
  xml_tag tag;
  for (;;) {
    tag.after_text = skip_text() || tag.after_text;
    tag.begin = offset_;
    if (take() < 0) {
      if (!open_.empty()) fail(fmt::format("the file ends inside of <{}>", open_.back()));
      return std::nullopt;
    }
    if (peek() != '?' && peek() != '!') break;
    skip_markup();
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
  nest(tag);
  return tag;
}

std::uint64_t xml_scanner::behind(char c) {
  skip_space();
  if (take() != c) fail(fmt::format("expected {}", c));
  return offset_;
}

}  // namespace volume_data
