// What a run leaves behind besides its result: report, trace, samples, and one line for the user.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "program/options.hpp"
#include "skel/observe/report_json.hpp"
#include "skel/observe/samples.hpp"
#include "skel/observe/trace.hpp"
#include "skel/report.hpp"

namespace skel::program {

/// What a program's body hands back. Only the root's counts.
struct run_outcome {
  report run;
  std::optional<std::string> result_xxh3;  ///< skel::xxh3_hex of the result's bytes
  observe::report_object fields;           ///< more for the report, e.g. {{"rays", rays}}
  observe::problem_size problem;           ///< what the cost depends on, for the samples
};

/// Writes the files that were asked for. A run that was stopped early gives no sample: its cost is not that
/// of the problem.
void write_run_files(common_options const& options, std::string const& program, run_outcome const& outcome,
                     std::span<observe::rank_trace const> traces);

/// What each task took, a line of seconds each: costs for skel-simulate.
void write_costs(std::string const& path, std::span<double const> seconds);

/// `farm guided:min=1 streamed: 512 tasks on 4 ranks x 1 thread in 1.93 s, 96 % busy`, and what was lost.
std::string summary_line(report const& run);

}  // namespace skel::program
