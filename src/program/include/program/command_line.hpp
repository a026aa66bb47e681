// The command line that all programs share.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "program/help.hpp"

namespace skel::program {

/// Adds a program's own options. The variables they are bound to must outlive the run.
using add_options_function = std::function<void(CLI::App&)>;

/// Parses the command line. Returns false after --help or --version, which print only if `prints`
/// is set.
/// Throws `usage_error` with a one-line message for every error of CLI11. The message points to
/// --help if a word is unknown or a subcommand is missing. Unknown words are reported before
/// missing ones.
bool parse(CLI::App& app, int argc, char** argv, bool prints = true);

/// Writes out what standard output has buffered. Throws error if that failed, or a write before it. The last
/// act of every program that succeeds.
void flush_output();

}  // namespace skel::program
