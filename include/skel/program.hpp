// The options that all programs of skel have, for a program of your own: --report, --samples, --watch,
// --checkpoint, --threads, --schedule, ... (docs/reference/options.md).
//
//     int main(int argc, char** argv) {
//       return skel::run_main(argc, argv, skel::restartable([&](skel::context& ctx) {
//         skel::program::session self(ctx, "sweep", argc, argv);  // takes its options out of argv
//         // ... your own options: those that are left, or if there are none:
//         if (self.answers_help("usage: sweep [options]")) return 0;
//         auto const [report] = skel::farm(ctx, source, f, self.schedule(), sink, self.farm());
//         return self.finish({.run = report});                    // writes the files
//       }));
//     }
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "skel/context.hpp"
#include "skel/observe/progress.hpp"
#include "skel/observe/report_json.hpp"
#include "skel/observe/samples.hpp"
#include "skel/on_error.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/storage/options.hpp"

namespace skel {
struct farm_options;
}

namespace skel::program {

/// The values of the options.
struct run_options {
  /// Those of farms, as given; see schedule() and farm().
  struct farm_values {
    std::string schedule = "auto";     ///< --schedule
    std::string results = "streamed";  ///< --results
    bool root_works = true;         ///< --root; false: the root only distributes tasks and collects results
    std::string on_error = "stop";  ///< --on-error
    std::optional<std::chrono::duration<double>> task_time_limit{};  ///< --task-time-limit
    double audit = 0;                                                ///< --audit
    friend bool operator==(farm_values const&, farm_values const&) = default;
  };
  /// Those of checkpoints, as given; see checkpoint().
  struct checkpoint_values {
    /// --checkpoint (code), --store, --remote, --remote-every, --every, --mtbf, --resume-object, --key-file
    checkpoint_options how{.code = {}};
    std::string resume{};  ///< --resume: "yes" or "auto"; empty: not given
  };
  /// Files that the root writes. A path is empty if its option was not given.
  struct output_files {
    std::string report{};       ///< --report
    std::string trace{};        ///< --trace; the context reads SKEL_TRACE itself
    std::string samples{};      ///< --samples
    std::string page{};         ///< --page
    std::string live_report{};  ///< --live-report
  };

  farm_values of_farm{};                                      ///< the options of farms
  checkpoint_values of_checkpoints{};                         ///< the options of checkpoints
  output_files files{};                                       ///< what is written
  std::optional<int> threads{};                               ///< --threads: compute threads per rank
  std::optional<int> watch{};                                 ///< --watch; 0: any free port
  std::string progress_text = "auto";                         ///< --progress, or SKEL_PROGRESS
  std::optional<std::chrono::duration<double>> time_limit{};  ///< --time-limit
  bool quiet = false;  ///< --quiet: no summary; no progress unless --progress always

  /// The schedule of a farm.
  [[nodiscard]] any_schedule schedule() const { return any_schedule(of_farm.schedule); }
  /// When the results of a farm travel.
  [[nodiscard]] results_policy results() const { return parse_results(of_farm.results); }
  /// What happens when a task fails.
  [[nodiscard]] error_policy on_error() const { return parse_on_error(of_farm.on_error); }
  /// The options of a farm: --results, --root, --on-error, --task-time-limit and --audit.
  [[nodiscard]] farm_options farm() const;
  /// Whether --checkpoint was given.
  [[nodiscard]] bool saves() const {
    return !of_checkpoints.how.code.empty() && of_checkpoints.how.code != "none";
  }
  /// The options of checkpoints, or nothing if checkpoints were not requested. `problem` must encode
  /// everything that the result depends on.
  [[nodiscard]] std::optional<checkpoint_options> checkpoint(
      checkpoint_options::program_version const& program, std::string const& problem) const;
  /// Whether progress is shown.
  [[nodiscard]] observe::progress_mode progress() const;
  /// Whether the run is traced.
  [[nodiscard]] bool traces() const { return !files.trace.empty() || !files.page.empty(); }
};

/// What a program has to say of its run at the end. Only the root's is used.
struct run_outcome {
  report run;                                ///< what the skeleton returned
  std::optional<std::string> result_xxh3{};  ///< skel::xxh3_hex of the result's bytes, for the report
  observe::report_object fields{};           ///< additional fields of the report, e.g. {{"rays", rays}}
  observe::problem_size problem{};           ///< the sizes that the cost depends on, for the samples
  /// What was verified and how, after success: "997 pixels, without accelerator". Empty: nothing.
  std::string verified{};
  /// What failed although the run went on; printed at its end, with exit code 1. Empty: nothing.
  std::string failure{};
};

/// The exit code of a run that left tasks out (--on-error collect).
inline constexpr int exit_incomplete = 3;

/// The exit code of a run that did not start tasks which could not end before the time limit (task_needs).
inline constexpr int exit_not_started = 4;

/// Returns the text of --help for the options of run_options: one line each.
[[nodiscard]] std::string help_of_options();

/// A run of a program, with its options. Each rank makes one, before its first skeleton call; one at a time.
/// While it exists, SIGINT, SIGTERM, SIGUSR1 and --time-limit stop the context: no more tasks are handed out.
/// On SIGUSR2 this rank leaves the job (context::retire).
class session {
 public:
  /// Takes the options that it knows, `--name value` or `--name=value`, out of the command line, up to a word
  /// `--`; `argc` and `argv` hold what is left. Applies them to the context. Collective: throws usage_error
  /// on every rank for a bad value, an output that cannot be written, and options that differ between ranks.
  /// `name`: of the program, in reports and samples. In a later attempt of run_main's body, first puts back
  /// what the session of the last one took.
  session(context& ctx, std::string name, int& argc, char** argv);
  /// The same with options that were read otherwise. Not collective; checks nothing. The summary goes to
  /// `summary`.
  session(context& ctx, std::string name, run_options options, std::FILE* summary = stdout);
  ~session();
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  /// For a program with no arguments but these options. Throws usage_error if the constructor has left a
  /// word on the command line, and names the option that an unknown one may mean. With --help the root prints
  /// `usage` and help_of_options(), and the result is true: the body should return 0.
  [[nodiscard]] bool answers_help(std::string_view usage) const;

  /// The options as given.
  [[nodiscard]] run_options const& options() const;
  /// options().schedule()
  [[nodiscard]] any_schedule schedule() const { return options().schedule(); }
  /// options().farm(), with checkpoint().
  [[nodiscard]] farm_options farm() const;
  /// The options of checkpoints, for any skeleton; nothing if they were not requested. Their `problem` is
  /// the name and what the constructor has left of the command line: add whatever else the result depends on,
  /// such as the contents of files.
  [[nodiscard]] std::optional<checkpoint_options> checkpoint() const;
  /// Writes the files on the root, and the summary on standard error. Returns the exit code: 0, or 3 if tasks
  /// were left out or results may be wrong, which standard error names. Throws skel::error if a signal or
  /// --time-limit stopped the run, or if a file cannot be written.
  [[nodiscard]] int finish(run_outcome outcome);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace skel::program
