// The options common to all programs. Reference: docs/reference/options.md.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skel/program.hpp"
#include "skel/storage/options.hpp"

namespace skel::program {

/// The values of the common options. A path is empty if its option was not given.
struct common_options : run_options {
  std::string output;  ///< -o
  bool verify = false;

  /// run_options::checkpoint() of a program of skel's version.
  [[nodiscard]] std::optional<checkpoint_options> checkpoint(std::string const& program,
                                                             std::string const& problem) const;
};

/// check_writable of --output, and check_outputs of the others.
void check_outputs(common_options const& options);

/// Selects the options that apply.
enum class option_set : std::uint8_t {
  farm,      ///< all
  schedule,  ///< of those of farms only --schedule, --results and --root
  no_farm    ///< none of farms
};

/// Adds the options to `app`; `options` must outlive the parsing. Values are checked during
/// parsing, so errors have CLI11's form: `--schedule: unknown schedule "foo"; known: ...`.
void add_common_options(CLI::App& app, common_options& options, option_set which = option_set::farm);

/// The options that may differ between ranks: threads, output to the terminal, files that the root
/// writes.
[[nodiscard]] std::vector<std::string> const& per_rank_options();

/// Adds only --schedule, --results and --root.
void add_schedule_options(CLI::App& app, common_options& options);
/// Adds only --key-file, whose file is checked during parsing.
CLI::Option* add_key_option(CLI::App& app, std::string& file, std::string const& what);
/// Adds only --checkpoint, --store, --remote, --remote-every, --every, --resume, --resume-object
/// and --key-file.
void add_checkpoint_options(CLI::App& app, common_options& options);
/// Adds only --report, --trace, --samples, --page and --quiet.
void add_report_options(CLI::App& app, common_options& options);

}  // namespace skel::program
