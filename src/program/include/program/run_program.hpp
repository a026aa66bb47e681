// The main function of all parallel programs: options, exit codes and output files.
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
  std::string description;  ///< one sentence, printed at the top of --help
  option_set options = option_set::farm;
  bool checkpoints = false;  ///< adds --checkpoint and its companions
  bool verifies = true;      ///< has --verify
  /// Program options that are not compared as text between the ranks; see same_options.hpp.
  std::vector<std::string> inputs{};   ///< files that every rank reads; their contents must be equal
  std::vector<std::string> outputs{};  ///< files that the root writes; checked before the run
  std::vector<std::string>
      may_differ{};                ///< options that need no comparison, or that the program compares itself
  std::string formats{};           ///< the extensions of --output, for --help: ".txt or .bin"
  bool summary_to_errors = false;  ///< standard output is for results only
};

/// Prints `program: text` on standard error, on one line whatever the text quotes.
void complain(std::string const& program, std::string const& text);

/// The program's work, collective over all ranks. Only the root's outcome is used.
using body_function = std::function<run_outcome(context&, common_options const&)>;

/// Runs a program and returns its exit code. All ranks parse the command line; the root prints
/// --help and --version and writes the files. Before the body runs, options and inputs are compared
/// between the ranks, and the root checks the output paths.
/// SIGINT, SIGTERM, SIGUSR1 and --time-limit stop the context: no more tasks are handed out. On
/// SIGUSR2 this rank leaves the job (context::retire). An
/// interrupted run writes its report but no sample, and its exit code is 1. A run that left tasks out
/// likewise; it names them, and its exit code is exit_incomplete.
/// After the loss of the root, all of this happens again on the other ranks (run_main): both functions may
/// be called several times.
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

/// The same for a program whose options are one struct.
template <class Options>
int run_program(int argc, char** argv, program_info const& info, void (*add_options)(CLI::App&, Options&),
                run_outcome (*body)(context&, common_options const&, Options const&)) {
  Options own;
  auto const add_anew = [&](CLI::App& app) {
    own = Options{};
    add_options(app, own);
  };
  return run_program(argc, argv, info, add_anew,
                     [&](context& ctx, common_options const& common) { return body(ctx, common, own); });
}

}  // namespace skel::program
