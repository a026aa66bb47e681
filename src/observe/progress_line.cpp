#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/observe/progress.hpp"

namespace skel::observe {

progress_mode parse_progress_mode(std::string_view text) {
  if (text == "auto") return progress_mode::automatic;
  if (text == "always") return progress_mode::always;
  if (text == "never") return progress_mode::never;
  throw usage_error(detail::format("unknown progress mode \"{}\"; known: auto, always, never", text));
}

namespace {

constexpr std::size_t smallest_bar = 10;
constexpr std::size_t largest_bar = 40;
constexpr std::size_t bar_frame = 4;  // two blanks and two brackets

using detail::columns;

std::string_view first_columns(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (detail::begins_character(text[end]) && count-- == 0) break;
  return text.substr(0, end);
}

std::string clock(double seconds) {
  constexpr double too_long = 100 * 3600;
  if (!(seconds < too_long)) return "> 99 h";
  auto const s = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (s >= 3600) return detail::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return detail::format("{}:{:02}", s / 60, s % 60);
}

std::string elapsed(double seconds) {
  constexpr double worth_tenths = 9.95;
  if (seconds < worth_tenths) return detail::format("{:.1f} s", std::max(seconds, 0.0));
  return clock(seconds);
}

// Names the day if it is not today.
std::string end_text(std::time_t now, double seconds) {
  auto const end = now + static_cast<std::time_t>(std::lround(seconds));
  std::tm from{}, to{};
  ::localtime_r(&now, &from);
  ::localtime_r(&end, &to);
  bool const today = from.tm_yday == to.tm_yday && from.tm_year == to.tm_year;
  std::array<char, 32> text{};
  auto const size = std::strftime(text.data(), text.size(), today ? "ends %H:%M" : "ends %F %H:%M", &to);
  return {text.data(), size};
}

std::string rate_text(double rate) {
  if (rate >= 9.9995e6) return detail::format("{:.1f} M/s", rate / 1e6);
  if (rate >= 9999.5) return detail::format("{:.1f} k/s", rate / 1e3);
  return detail::format("{:.{}f}/s", rate, rate < 99.95 ? 1 : 0);
}

// Rounds down: 100 % means that everything is done.
std::uint64_t percent(std::uint64_t done, std::uint64_t total) {
  if (done >= total) return 100;
  return std::min<std::uint64_t>(
      99, static_cast<std::uint64_t>(100.0 * (static_cast<double>(done) / static_cast<double>(total))));
}

std::string bar(std::uint64_t done, std::uint64_t total, std::size_t width) {
  auto const share = done >= total ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  auto const filled = std::min(width, static_cast<std::size_t>(share * static_cast<double>(width)));
  return '[' + std::string(filled, '#') + std::string(width - filled, '.') + ']';
}

struct field {
  std::string text;
  int rank;  // the highest is removed first if the line is too narrow
};
constexpr int rank_of_bar = 3;

std::vector<field> fields(progress_state const& state) {
  std::vector<field> all;
  bool const ended = state.total && state.done >= *state.total;
  if (state.total) {
    all.push_back({detail::format("{:3} %", percent(state.done, *state.total)), 0});
    all.push_back({detail::format("{}/{} {}", state.done, *state.total, state.unit), 4});
  } else {
    all.push_back({detail::format("{} {}", state.done, state.unit), 0});
  }
  bool const measurable = state.done > 0 && state.seconds > 0;
  if (measurable) all.push_back({rate_text(static_cast<double>(state.done) / state.seconds), 5});
  if (state.total && !ended && measurable) {
    auto const left =
        static_cast<double>(*state.total - state.done) * state.seconds / static_cast<double>(state.done);
    all.push_back({clock(left) + " left", 2});
    constexpr double worth_a_time = 60, too_long = 1e9;
    if (state.now != 0 && left >= worth_a_time && left < too_long)
      all.push_back({end_text(state.now, left), 3});
  } else {
    all.push_back({"in " + elapsed(state.seconds), 2});
  }
  if (state.failed > 0) all.push_back({detail::format("{} failed", state.failed), 1});
  if (state.lost_ranks > 0)
    all.push_back({detail::format("{} of {} ranks lost", state.lost_ranks, state.ranks), 1});
  return all;
}

std::size_t length(std::vector<field> const& all) {
  std::size_t sum = 0;
  for (auto const& f : all) sum += 2 + columns(f.text);
  return sum;
}

}  // namespace

std::string progress_line(std::string_view label, progress_state const& state, int width) {
  auto const room = static_cast<std::size_t>(std::max(width, 0));
  auto all = fields(state);
  bool with_bar = state.total.has_value();
  auto const used = [&] { return columns(label) + length(all); };
  while (used() + (with_bar ? smallest_bar + bar_frame : 0) > room && (with_bar || all.size() > 1)) {
    auto const least = std::ranges::max_element(all, {}, &field::rank);
    if (with_bar && least->rank < rank_of_bar) {
      with_bar = false;
    } else {
      all.erase(least);
    }
  }
  auto line = std::string(label);
  if (with_bar)
    line += "  " + bar(state.done, state.total.value_or(0), std::min(largest_bar, room - used() - bar_frame));
  for (auto const& f : all) line += "  " + f.text;
  return std::string(first_columns(line, room));
}

}  // namespace skel::observe
