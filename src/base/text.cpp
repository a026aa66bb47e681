#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>

#include "format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

struct unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<unit, 6> units = {
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}}};

constexpr std::size_t longest_line = 1000;

std::string_view ending_of(std::string_view path) {
  auto const name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  auto const dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot);
}

// The least number of letters to insert, delete, replace or exchange with a neighbour that turns a into b
// (optimal string alignment).
std::size_t distance(std::string const& a, std::string const& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char const c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
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

std::string nearest(std::string const& word, std::vector<std::string> const& names) {
  constexpr std::size_t longest_word = 40;
  if (word.empty() || word.size() > longest_word) return {};
  std::string best, begun;
  std::size_t least = word.size() / 3 + 1, beginnings = 0;
  for (auto const& name : names) {
    if (auto const d = distance(word, name); d < least) {
      least = d;
      best = name;
    }
    if (name.starts_with(word)) {
      ++beginnings;
      begun = name;
    }
  }
  if (best.empty() && beginnings == 1) best = begun;
  return best;
}

std::chrono::duration<double> parse_duration(std::string_view text) {
  auto rest = text;
  auto const number = take_number<double>(rest);
  bool const fixed = text.find_first_of("eE") == std::string_view::npos;
  if (number && fixed && std::isfinite(*number) && *number > 0)
    for (auto const& [name, seconds] : units)
      if (rest == name) return std::chrono::duration<double>(*number * seconds);
  throw usage_error(detail::format(
      "\"{}\" is not a duration; expected for example 90, 90s, 500ms, 20us, 1.5m or 2h", text));
}

std::string one_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string line;
  for (char const c : text.substr(0, longest_line)) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      line += ' ';
    } else if (code < 0x20 || code == 0x7f) {
      line += detail::format("\\x{:02x}", code);
    } else {
      line += c;
    }
  }
  return text.size() > longest_line ? line + "..." : line;
}

std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known) {
  auto ending = lower(ending_of(path));
  if (std::ranges::find(known, ending) != known.end()) return ending;
  if (ending.empty())
    throw usage_error(detail::format("{}: missing extension; known: {}", path, join(known, ", ")));
  throw usage_error(
      detail::format("{}: unknown extension \"{}\"; known: {}", path, ending_of(path), join(known, ", ")));
}

}  // namespace skel::detail
