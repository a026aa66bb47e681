#include "slice_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "formats.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name with a number in it.
class numbered_name {
 public:
  numbered_name(std::string const& header, std::string_view pattern) {
    auto const percent = pattern.find('%');
    auto at = percent == std::string_view::npos ? pattern.size() : percent + 1;
    zeros_ = at < pattern.size() && pattern[at] == '0';
    for (; at < pattern.size() && is_digit(pattern[at]) && width_ < 100; ++at)
      width_ = 10 * width_ + static_cast<std::size_t>(pattern[at] - '0');
    bool const good = at < pattern.size() && pattern[at] == 'd' && width_ <= 20;
    if (!good || pattern.find('%', at) != std::string_view::npos)
      throw skel::usage_error(
          fmt::format("{}: expected a name with one %d, as in slice%03d.raw, found \"{}\"", header,
                      pattern.substr(0, 60)));
    before_ = pattern.substr(0, percent);
    after_ = pattern.substr(at + 1);
  }
  [[nodiscard]] std::string at(std::int64_t n) const {
    auto const number = zeros_ ? fmt::format("{:0{}}", n, width_) : fmt::format("{:{}}", n, width_);
    return before_ + number + after_;
  }

 private:
  std::string before_, after_;
  std::size_t width_ = 0;
  bool zeros_ = false;
};

/// Compares runs of digits as numbers of any length, other characters as bytes.
bool in_natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (!is_digit(a.front()) || !is_digit(b.front())) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    auto const number = [](std::string_view& text) {
      auto const end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
      auto const zeros = std::min(text.find_first_not_of('0'), end);
      auto const digits = text.substr(zeros, end - zeros);
      text.remove_prefix(end);
      return digits;
    };
    auto const x = number(a), y = number(b);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() < b.size();
}

}  // namespace

slice_files numbered_files(std::string const& header, std::string_view pattern, std::int64_t first,
                           std::int64_t step, std::size_t count) {
  numbered_name const name(header, pattern);
  slice_files files;
  for (std::size_t i = 0; i < count; ++i) {
    files.push_back(beside(header, name.at(first + static_cast<std::int64_t>(i) * step)));
    // Stops at the first missing file, so that a header may claim 2^31 files.
    if (!fs::exists(files.back())) static_cast<void>(file_length(files.back()));
  }
  return files;
}

slice_files numbered_files_present(std::string const& header, std::string_view pattern, std::int64_t first) {
  numbered_name const name(header, pattern);
  auto const file = [&](std::int64_t n) { return beside(header, name.at(n)); };
  slice_files files;
  auto n = first;
  for (; fs::exists(file(n)); ++n) files.push_back(file(n));
  constexpr std::int64_t look_ahead = 1000;  // a missing slice must not end the stack
  for (auto later = n + 1; later <= n + look_ahead; ++later)
    if (fs::exists(file(later)))
      throw skel::usage_error(fmt::format("{}: missing, but {} is there", file(n), file(later)));
  if (files.empty())
    static_cast<void>(file_length(beside(header, name.at(first))));  // reports that it is missing
  return files;
}

slice_files numbered_files(std::string const& header, std::string_view text) {
  auto const space = std::min(text.find(' '), text.size());
  std::array<double, 3> n{};  // first, last, step
  parse_numbers(text.substr(space), n, header, "numbers of the data files");
  constexpr double most = 1e9;
  for (auto const v : n)
    if (!(std::abs(v) <= most) || v != std::floor(v))
      throw skel::usage_error(
          fmt::format("{}: numbers of the data files: expected whole ones, found {}", header, v));
  if (n[2] == 0 || (n[1] - n[0]) / n[2] < 0)
    throw skel::usage_error(
        fmt::format("{}: numbers of the data files: from {} to {} by {} are none", header, n[0], n[1], n[2]));
  auto const count = static_cast<std::size_t>(std::floor((n[1] - n[0]) / n[2])) + 1;
  return numbered_files(header, text.substr(0, space), static_cast<std::int64_t>(n[0]),
                        static_cast<std::int64_t>(n[2]), count);
}

slice_files pictures_in(std::string const& folder) {
  slice_files files;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (lower(at->path().extension().string()) == ".png") files.push_back(at->path().string());
  if (code) throw skel::usage_error(folder + ": " + code.message());
  if (files.empty()) throw skel::usage_error(folder + ": expected .png files in this folder, found none");
  std::ranges::sort(files, [](auto const& a, auto const& b) {
    return in_natural_order(a, b) || (!in_natural_order(b, a) && a < b);  // 1.png, 01.png: by bytes
  });
  return files;
}

}  // namespace volume_data
