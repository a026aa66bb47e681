#include "picture_size.hpp"

#include <charconv>
#include <string>

#include "skel/error.hpp"

namespace picture {

namespace {

/// Removes a length from the front of `text`; returns 0 if there is no valid one.
int take_length(std::string_view& text) {
  constexpr int most = 65536;
  int length = 0;
  auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), length);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return bad == std::errc{} && length <= most ? length : 0;
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
