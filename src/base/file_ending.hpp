// Endings of the names of output files, which choose their format.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace skel::detail {

/// Returns the ending of a file's name in lower case (".png"). Throws usage_error if it is not one of
/// `known`: `a.jpg: unknown extension ".jpg"; known: .png, .ppm`.
std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known);

}  // namespace skel::detail
