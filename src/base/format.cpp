#define FMT_HEADER_ONLY 1  // here, and nowhere else in the library
#include "format.hpp"

#include <fmt/format.h>

#include <iterator>

namespace skel::detail {

void append_formatted(std::string& text, fmt::string_view how, fmt::format_args values) {
  fmt::vformat_to(std::back_inserter(text), how, values);
}

}  // namespace skel::detail
