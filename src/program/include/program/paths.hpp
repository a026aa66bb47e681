// Checks output paths before the computation starts, so that an hour of work cannot end in "no such
// directory".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "skel/program.hpp"

namespace skel::program {

/// Returns the extension of `path` in lower case (".png"). Throws `usage_error` if it is not one of
/// `known`: `a.jpg: unknown extension ".jpg"; known: .png, .ppm`. Case is ignored.
std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known);

/// Throws `usage_error` (`path: reason`) if a file cannot be created at `path` now. Leaves no file
/// behind.
void check_writable(std::string const& path);

/// Calls check_writable for every path among the options, and checks the endings of a trace and a page, the
/// header of an existing samples file, and that a page can be made. Called on the root only.
void check_outputs(run_options const& options);

}  // namespace skel::program
