#include "text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "skel/error.hpp"

namespace skel::components {

namespace {

// Files of old Macs end lines with \r alone: here these become \n. Of \r\n the \r stays, as a blank. The last
// of the bytes waits for what comes after it.
void end_lines(std::span<char> bytes) {
  if (bytes.empty()) return;
  auto const* const last = &bytes.back();
  for (auto* at = bytes.data();; ++at) {
    at = static_cast<char*>(std::memchr(at, '\r', static_cast<std::size_t>(last - at)));
    if (at == nullptr) return;
    if (at[1] != '\n') *at = '\n';
  }
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// As it may stand in an error message.
std::string printable(std::string_view word) {
  std::string shown;
  for (char const c : word.substr(0, 24)) shown += c > ' ' && c < 127 ? c : '?';
  return word.size() > 24 ? shown + "..." : shown;
}

}  // namespace

bool text_lines::next() {
  for (;;) {
    auto const* const from = buffer_.data() + begin_;
    auto const* const newline = static_cast<char const*>(std::memchr(from, '\n', end_ - begin_));
    if (newline != nullptr) {
      line_ = {from, static_cast<std::size_t>(newline - from)};
      begin_ += line_.size() + 1;
      break;
    }
    if (at_end_) {  // the last line may lack its end
      if (begin_ == end_) return false;
      line_ = {from, end_ - begin_};
      begin_ = end_;
      break;
    }
    if (!refill()) {
      ++number_;
      fail("a line is longer than a megabyte; not a text?");
    }
  }
  ++number_;
  return true;
}

bool text_lines::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) return false;
  auto const got = in_.read(std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  at_end_ = got < buffer_.size() - end_;
  auto const known = end_ - std::min<std::size_t>(end_, 1);
  end_ += got;
  end_lines(std::span(buffer_).subspan(known, end_ - known));
  return true;
}

std::string_view text_lines::word() {
  std::size_t i = 0;
  while (i < line_.size() && blank(line_[i])) ++i;
  std::size_t end = i;
  while (end < line_.size() && !blank(line_[end])) ++end;
  auto const found = line_.substr(i, end - i);
  line_.remove_prefix(end);
  return found;
}

std::uint64_t text_lines::integer(std::string_view what, std::uint64_t least, std::uint64_t most) {
  auto const text = word();
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    bool const number =
        text.find_first_not_of("-0123456789") == std::string_view::npos && !text.empty() && text != "-";
    if (!number) fail_at_word(what, text);
    fail_at_word(fmt::format("{} from {} to {}", what, least, most), text);
  }
  if (value < least || value > most) fail_at_word(fmt::format("{} from {} to {}", what, least, most), text);
  return value;
}

void text_lines::skip_number(std::string_view what) {
  auto const text = word();
  auto const digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) fail_at_word(what, text);
}

void text_lines::fail(std::string const& text) const {
  throw usage_error(fmt::format("{}:{}: {}", in_.path(), number_, text));
}

void text_lines::fail_at_word(std::string_view what, std::string_view word) const {
  if (word.empty()) fail(fmt::format("expected {}, got the end of the line", what));
  fail(fmt::format("expected {}, got \"{}\"", what, printable(word)));
}

}  // namespace skel::components
