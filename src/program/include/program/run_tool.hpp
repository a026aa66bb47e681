// The main function of programs that run as a single process. Parallel programs use
// run_program.hpp.
#pragma once

#include <functional>
#include <string>

#include "program/command_line.hpp"

namespace skel::program {

struct tool_info {
  std::string name;         ///< "skel-checkpoint"
  std::string description;  ///< one sentence, printed at the top of --help
};

/// Parses the command line, calls `work` and returns the exit code: the value of `work`, 2 after a
/// `usage_error`, 1 after any other exception or if standard output cannot be written. An error is
/// printed as one line on standard error.
///
///     int main(int argc, char** argv) {
///       std::string file;
///       return skel::program::run_tool(
///           argc, argv, {"skel-count", "Counts the lines of a file."},
///           [&](CLI::App& app) { app.add_option("FILE", file)->required(); },
///           [&] { return count(file); });
///     }
int run_tool(int argc, char** argv, tool_info const& info, add_options_function const& add_options,
             std::function<int()> const& work);

}  // namespace skel::program
