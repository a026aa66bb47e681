// The options that every program has. docs/programs.md is their reference.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skel/observe/progress.hpp"
#include "skel/schedule.hpp"
#include "skel/storage/options.hpp"

namespace skel::program {

/// Paths are empty where the option was not given.
struct common_options {
  std::string schedule_text = "guided";  ///< as given; valid once parsed
  std::string results_text = "streamed";
  bool root_works = true;              ///< --root works; false: it only hands out and collects
  std::optional<int> threads;          ///< compute threads per rank
  std::string output;                  ///< -o
  std::string report;                  ///< --report
  std::string trace;                   ///< --trace; SKEL_TRACE is the context's
  std::string samples;                 ///< --samples
  std::string progress_text = "auto";  ///< --progress, or SKEL_PROGRESS
  std::optional<std::chrono::duration<double>> time_limit;
  std::string checkpoint_code;      ///< --checkpoint
  std::vector<std::string> store;   ///< --store
  std::vector<std::string> remote;  ///< --remote
  std::uint64_t remote_every = 5;   ///< --remote-every: the paper's four local, one remote
  std::chrono::duration<double> every{10};
  bool resume = false;
  std::string resume_object;
  bool verify = false;
  bool quiet = false;  ///< no summary, and no progress unless --progress always

  [[nodiscard]] any_schedule schedule() const { return any_schedule(schedule_text); }
  [[nodiscard]] results_policy results() const { return parse_results(results_text); }
  [[nodiscard]] observe::progress_mode progress() const;
  /// `problem`: a text of all that the result depends on. Empty where no checkpoints were asked for.
  [[nodiscard]] std::optional<checkpoint_options> checkpoint(std::string const& program,
                                                             std::string const& problem) const;
};

/// Which of the options apply: a search has no schedule, results that travel, or root that serves.
enum class option_set : std::uint8_t { farm, search };

/// Adds the options to `app`; `options` must outlive the parsing. Values are checked while they are parsed,
/// so the errors are CLI11's, with texts like `--schedule: unknown schedule "foo"; known: ...`.
void add_common_options(CLI::App& app, common_options& options, option_set which = option_set::farm);

/// Those of them that concern one rank: threads, what is printed, files that the root writes.
[[nodiscard]] std::vector<std::string> const& per_rank_options();

/// Parts of it, for programs that have only these: --schedule, --results, --root;
void add_schedule_options(CLI::App& app, common_options& options);
/// --checkpoint, --store, --remote, --remote-every, --every, --resume, --resume-object.
void add_checkpoint_options(CLI::App& app, common_options& options);
/// --report, --trace, --quiet.
void add_report_options(CLI::App& app, common_options& options);

}  // namespace skel::program
