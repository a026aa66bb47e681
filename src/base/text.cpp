#include "text.hpp"

#include <algorithm>
#include <cstdint>
#include <istream>

namespace skel::detail {

bool is_tiny(std::string_view number) {
  auto const end = std::min(number.find_first_of("eE"), number.size());
  auto const digits = number.substr(0, end);
  auto exponent = number.substr(std::min(end + 1, number.size()));
  bool const negative = exponent.starts_with('-');
  constexpr std::int64_t huge = INT64_MAX / 4;
  // An exponent of more digits than an integer holds outweighs all digits of the number.
  auto const power =
      exponent.empty() ? 0 : take_number<std::int64_t>(exponent).value_or(negative ? -huge : huge);
  auto const point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  auto const first = static_cast<std::int64_t>(std::min(digits.find_first_of("123456789"), digits.size()));
  return std::clamp(power, -huge, huge) + point - first < 0;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

bool read_line(std::istream& in, std::string& line) {
  if (!std::getline(in, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  line.erase(0, line.size() - without_mark(line).size());
  return true;
}

std::optional<std::vector<std::string>> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char const c = line[i];
    if (c == '"') {
      // Within quotes, two quotes stand for one.
      if (quoted && line.substr(i + 1).starts_with('"'))
        fields.back() += line[++i];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return fields;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string printable(std::string_view word) {
  constexpr std::size_t most = 24;
  std::string shown(word.substr(0, most));
  std::ranges::replace_if(
      shown, [](char c) { return c <= ' ' || c >= 127; }, '?');
  return word.size() > most ? shown + "..." : shown;
}

}  // namespace skel::detail
