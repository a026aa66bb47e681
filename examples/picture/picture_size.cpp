#include "picture_size.hpp"

#include <string>

#include "program/text.hpp"
#include "skel/error.hpp"

namespace picture {

namespace {

/// Removes a length from the front of `text`; returns 0 if there is no valid one.
int take_length(std::string_view& text) {
  constexpr int most = 65536;
  auto const length = skel::program::take_number<int>(text).value_or(0);
  return length <= most ? length : 0;
}

}  // namespace

picture_size parse_size(std::string_view text, std::string_view option) {
  auto rest = text;
  int const width = take_length(rest);
  bool const by = rest.starts_with('x');
  if (by) rest.remove_prefix(1);
  int const height = take_length(rest);
  if (!by || width < 1 || height < 1 || !rest.empty())
    throw skel::usage_error(std::string(option) + ": expected WIDTHxHEIGHT, each 1 to 65536, found \"" +
                            std::string(text) + "\"");
  return {width, height};
}

}  // namespace picture
