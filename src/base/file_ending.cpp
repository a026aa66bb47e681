#include "base/file_ending.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

std::string_view ending_of(std::string_view path) {
  auto const name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  auto const dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot);
}

}  // namespace

std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known) {
  auto ending = lower(ending_of(path));
  if (std::ranges::find(known, ending) != known.end()) return ending;
  if (ending.empty())
    throw usage_error(detail::format("{}: missing extension; known: {}", path, join(known, ", ")));
  throw usage_error(
      detail::format("{}: unknown extension \"{}\"; known: {}", path, ending_of(path), join(known, ", ")));
}

}  // namespace skel::detail
