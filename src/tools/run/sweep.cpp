#include "tools/run/sweep.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <utility>

#include "program/text.hpp"
#include "skel/error.hpp"
#include "tools/run/words.hpp"

namespace skel::commands {

namespace {

constexpr int most_digits = 15;  // sums of two such numbers, scaled, do not overflow

[[noreturn]] void fail(std::string const& what) { throw usage_error("--sweep: " + what); }

std::string shown(std::string_view text) { return '"' + program::printable(text) + '"'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

// Nothing if the text is no decimal number, or has too many digits.
std::optional<decimal> decimal_of(std::string_view text) {
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  decimal d;
  bool point = false;
  int digits = 0;
  for (char const c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c) && ++digits <= most_digits) {
      d.digits = d.digits * 10 + (c - '0');
      if (point) ++d.decimals;
    } else {
      return std::nullopt;
    }
  }
  if (digits == 0) return std::nullopt;
  if (negative) d.digits = -d.digits;
  return d;
}

// With this many decimals. Nothing if it has too many digits then.
std::optional<std::int64_t> scaled(decimal d, int decimals) {
  constexpr std::int64_t most = 1'000'000'000'000'000;  // 10^most_digits
  for (; d.decimals < decimals; ++d.decimals)
    if (std::abs(d.digits) >= most / 10)
      return std::nullopt;
    else
      d.digits *= 10;
  return d.digits;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    auto const end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string sweep::values::value(std::uint64_t i) const {
  if (!numbers) return text;
  auto const number = first + static_cast<std::int64_t>(i) * step;
  auto digits = std::to_string(std::abs(number));
  auto const places = static_cast<std::size_t>(decimals);
  if (places > 0) {
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
  }
  return number < 0 ? "-" + digits : digits;
}

sweep::values sweep::part_of(std::string const& text) {
  values v;
  v.text = text;
  auto const parts = split(text, ':');
  std::vector<decimal> numbers;
  for (auto const& part : parts)
    if (auto const number = decimal_of(part)) numbers.push_back(*number);
  if (parts.size() < 2 || parts.size() > 3 || numbers.size() < parts.size()) return v;
  if (parts.size() == 2) numbers.push_back({1, 0});
  v.decimals = std::max(numbers[0].decimals, numbers[2].decimals);
  // The last number may have more decimals than those that are reached.
  int const finest = std::max(v.decimals, numbers[1].decimals);
  auto const first = scaled(numbers[0], finest), last = scaled(numbers[1], finest),
             step = scaled(numbers[2], finest);
  if (!first || !last || !step) fail("the numbers of " + shown(text) + " have too many digits");
  if (*step == 0) fail("the step of " + shown(text) + " must not be 0");
  if ((*last - *first) / *step < 0 || (*last != *first && (*last < *first) != (*step < 0)))
    fail(shown(text) + " has no values: expected a step towards the last number");
  v.numbers = true;
  v.count = static_cast<std::uint64_t>((*last - *first) / *step) + 1;
  v.first = *scaled(numbers[0], v.decimals);
  v.step = *scaled(numbers[2], v.decimals);
  return v;
}

sweep::axis sweep::axis_of(std::string const& word) {
  auto const equals = word.find('=');
  if (equals == std::string::npos) fail("expected NAME=VALUE,..., found " + shown(word));
  axis p;
  p.name = word.substr(0, equals);
  bool const good = !p.name.empty() && is_letter(p.name[0]) &&
                    std::ranges::all_of(p.name, [](char c) { return is_letter(c) || is_digit(c); });
  if (!good) fail("expected a name of letters, digits and _, found " + shown(p.name));
  for (auto const& text : split(std::string_view(word).substr(equals + 1), ',')) {
    p.parts.push_back(part_of(text));
    p.count += p.parts.back().count;  // of at most 10^15 each
  }
  return p;
}

sweep::sweep(std::string_view text) {
  // An assignment in front needs the shell, so a command is put before the parameters.
  auto words = plain_words("sweep " + std::string(text));
  if (!words)
    fail("expected NAME=VALUE,... without characters of the shell such as $ * ?, found " + shown(text));
  words->erase(words->begin());
  if (words->empty()) fail("expected NAME=VALUE,...");
  for (auto const& word : *words) {
    auto p = axis_of(word);
    if (std::ranges::find(parameters_, p.name, &axis::name) != parameters_.end())
      fail("parameter " + p.name + " is given twice");
    parameters_.push_back(std::move(p));
  }
  constexpr std::uint64_t most = 1'000'000'000'000;
  for (auto& p : std::ranges::reverse_view(parameters_)) {
    p.period = size_;
    if (p.count > most / size_) fail("more than 10^12 combinations");
    size_ *= p.count;
  }
}

std::string sweep::value(std::size_t parameter, std::uint64_t combination) const {
  auto const& p = parameters_[parameter];
  auto i = combination / p.period % p.count;
  for (auto const& part : p.parts) {
    if (i < part.count) return part.value(i);
    i -= part.count;
  }
  return {};
}

}  // namespace skel::commands
