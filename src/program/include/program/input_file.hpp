// Files that programs read.
#pragma once

#include <string>

namespace skel::program {

/// Opens a file for reading, or a pipe. Throws `usage_error` (`path: reason`) if that fails, or if it is a
/// folder. The caller closes it.
[[nodiscard]] int open_input(std::string const& path);
/// The content of a file. Throws `usage_error` (`path: reason`).
[[nodiscard]] std::string read_input(std::string const& path);

}  // namespace skel::program
