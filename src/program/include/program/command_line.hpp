// What the command lines of all programs have in common.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace skel::program {

/// Adds a program's own options. What they are bound to must outlive the run.
using add_options_function = std::function<void(CLI::App&)>;

/// --version, which says the program's name and the library's version.
void add_version(CLI::App& app);

/// False: it was --help or --version, all is done; they are printed where `prints`. CLI11's errors become
/// usage_errors of one line, which lead to --help where a word is not known or a subcommand is needed; a word
/// that is not known is told before one that is missing.
bool parse(CLI::App& app, int argc, char** argv, bool prints = true);

}  // namespace skel::program
