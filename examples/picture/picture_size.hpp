// Parses the size of a picture on a command line.
#pragma once

#include <string_view>

namespace picture {

struct picture_size {
  int width, height;
};

/// Parses "640x480": pixels, each 1 to 65,536. Throws a usage_error that begins with the name of
/// the option.
[[nodiscard]] picture_size parse_size(std::string_view text, std::string_view option);

}  // namespace picture
