// fmt::format, compiled once. Header-only fmt, which adds nothing to the installed files, costs 4 s
// in each file that formats, and 10 s under the sanitizers.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace skel::detail {

void append_formatted(std::string& text, fmt::string_view how, fmt::format_args values);

// Call it as detail::format(...): an unqualified format(...) of a std::string is also std::format,
// if the library has it (GCC 13 and later).

/// Appends to `text`. Accepts numbers, characters and strings only: all other types need more of
/// fmt's headers.
template <class... T>
void append_format(std::string& text, fmt::format_string<T...> how, T&&... values) {
  append_formatted(text, how, fmt::make_format_args(values...));
}

template <class... T>
[[nodiscard]] std::string format(fmt::format_string<T...> how, T&&... values) {
  std::string text;
  append_formatted(text, how, fmt::make_format_args(values...));
  return text;
}

/// Joins the elements of a range, separated by `between`.
template <class Range>
[[nodiscard]] std::string join(Range const& range, std::string_view between) {
  std::string text;
  bool first = true;
  for (auto const& element : range) {
    if (!first) text += between;
    first = false;
    append_format(text, "{}", element);
  }
  return text;
}

}  // namespace skel::detail
