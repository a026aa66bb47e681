// Text of unknown origin: numbers, durations, words, lines and fields. All formats read them with these
// functions.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace skel::detail {

/// Whether a decimal number that no floating type holds is too small, not too large.
[[nodiscard]] bool is_tiny(std::string_view number);

/// Takes a number off the front of a text, which may begin with + or -. One that is too close to 0 for
/// its type is 0, as in VTK. Returns nothing if there is no number or if it is too large; the text then
/// stays as it is.
template <class Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& text) {
  bool const plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  auto const* const begin = text.data() + (plus ? 1 : 0);
  Number value{};
  auto const [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc{}) {
    if (!std::is_floating_point_v<Number> || error != std::errc::result_out_of_range) return std::nullopt;
    if (!is_tiny({begin, end})) return std::nullopt;
    value = 0;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Returns the number that these digits are, if the text has nothing else, no sign either.
template <std::unsigned_integral Number>
[[nodiscard]] std::optional<Number> from_digits(std::string_view digits, int base = 10) {
  Number value{};
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

/// Returns the number if it is the whole text.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view text) {
  auto const value = take_number<Number>(text);
  return text.empty() ? value : std::nullopt;
}

/// Skips the byte order mark of UTF-8, which some editors put in front of a text.
[[nodiscard]] constexpr std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Reads a line without its end, \n or \r\n, and without a byte order mark. Returns false at the end.
bool read_line(std::istream& in, std::string& line);

/// The fields of a line of CSV (RFC 4180). Returns nothing if a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> csv_fields(std::string_view line);

/// A field of such a line: in quotes if necessary, inner quotes doubled.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Replaces the capitals of ASCII.
[[nodiscard]] std::string lower(std::string_view text);

/// Whether a byte of UTF-8 begins a character.
[[nodiscard]] constexpr bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}
/// The number of characters, not bytes, of UTF-8.
[[nodiscard]] std::size_t columns(std::string_view text);

/// Returns a word for an error message: shortened, with ? for all bytes that ASCII does not print.
[[nodiscard]] std::string printable(std::string_view word);

/// Returns the name that a misspelt word may mean: the nearest one, if a third of the word's letters or fewer
/// are wrong, or the only one that begins with the word. Empty if there is none.
[[nodiscard]] std::string nearest(std::string const& word, std::vector<std::string> const& names);

/// Parses a positive, finite duration in ms, s, m (minutes) or h; seconds if there is no unit.
/// Throws usage_error, which quotes `text`.
std::chrono::duration<double> parse_duration(std::string_view text);

/// Replaces line ends and tabs by blanks, and other control characters by \xNN; cuts the text after
/// 1000 bytes. Hostile input quoted in a message must not control the user's terminal.
std::string one_line(std::string_view text);

/// Returns the ending of a file's name in lower case (".png"). Throws usage_error if it is not one of
/// `known`: `a.jpg: unknown extension ".jpg"; known: .png, .ppm`.
std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known);

}  // namespace skel::detail
