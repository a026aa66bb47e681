// The main function of every program: options, exit codes, and the files a run leaves behind.
#pragma once

#include <functional>
#include <string>
#include <vector>

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
  /// Own options that are not compared as texts between the ranks; see same_options.hpp.
  std::vector<std::string> inputs{};      ///< a file that every rank reads: its content must be the same
  std::vector<std::string> outputs{};     ///< a file that the root writes: tried before the run
  std::vector<std::string> may_differ{};  ///< the program compares what they stand for, or need not
};

/// The program's work, collective over all ranks. Only the root's outcome counts.
using body_function = std::function<run_outcome(context&, common_options const&)>;

/// Runs a program and returns its exit code. Every rank adds options and parses alike; the root prints --help
/// and --version and writes the files. Options and inputs must be the same on all ranks, and the output paths
/// are tried on the root, before the body runs. While it runs, SIGINT, SIGTERM, SIGUSR1 and --time-limit stop
/// the context: nothing more is handed out. A run they cut short writes its report, gives no sample, and ends
/// with exit code 1.
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
