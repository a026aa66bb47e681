// fmt::format, compiled once. Header-only fmt, which leaves no trace in what is installed, costs 4 s in each
// file that formats, and 10 s under the sanitizers.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace skel::detail {

void append_formatted(std::string& text, fmt::string_view how, fmt::format_args values);

// Callers write detail::format(…): a bare format(…) of a std::string is std::format, too, where the library
// has it (GCC 13 and later).

/// Appends to `text`. Numbers, characters and strings only: what else fmt can format needs more of its
/// headers.
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

/// The elements of a range, with `between` between them.
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
