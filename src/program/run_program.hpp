// The main function of every program: options, exit codes, and the files a run leaves behind.
#pragma once

#include <functional>
#include <string>

#include "program/command_line.hpp"
#include "program/options.hpp"
#include "program/run_files.hpp"
#include "skel/context.hpp"

namespace skel::program {

struct program_info {
  std::string name;         ///< "skel-raytrace"
  std::string description;  ///< one sentence, the head of --help
  option_set options = option_set::farm;
  bool checkpoints = false;  ///< it has --checkpoint and what belongs to it
};

/// The program's work, collective over all ranks. Only the root's outcome counts.
using body_function = std::function<run_outcome(context&, common_options const&)>;

/// Runs a program and returns its exit code. Every rank adds options and parses alike; the root prints --help
/// and --version and writes the files. On the root the output paths are tried first. While the body runs,
/// SIGTERM, SIGUSR1 and --time-limit stop the context: nothing more is handed out. A run they cut short
/// writes its report, gives no sample, and ends with exit code 1.
///
///     int main(int argc, char** argv) {
///       std::string scene;
///       return skel::program::run_program(
///           argc, argv, {"skel-raytrace", "Renders NFF scenes."},
///           [&](CLI::App& app) { app.add_option("SCENE", scene)->required(); },
///           [&](skel::context& ctx, skel::program::common_options const& options) {
///             ...
///             return skel::program::run_outcome{report, hash, {{"rays", rays}}, {{"scene", scene}}};
///           });
///     }
int run_program(int argc, char** argv, program_info const& info, add_options_function const& add_options,
                body_function const& body);

}  // namespace skel::program
