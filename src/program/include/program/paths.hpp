// Checks of output paths before anything is computed: an hour of work must not end in "no such directory".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "program/options.hpp"

namespace skel::program {

/// The ending of `path` (".png"), which must be one of `known`. Upper and lower case are the same. Otherwise
/// a usage_error: `a.jpg: unknown ending ".jpg"; known: .png, .ppm`.
std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known);

/// usage_error `path: reason` if a file could not be written there now. Leaves nothing behind.
void check_writable(std::string const& path);

/// check_writable for all the paths among the common options; a samples file must have the right header. On
/// the root.
void check_outputs(common_options const& options);

}  // namespace skel::program
