// The files and the summary line that a run produces beside its result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skel/observe/trace.hpp"
#include "skel/program.hpp"

namespace skel::program {

/// Returns e.g. "1 task" or "3 tasks".
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view noun);

/// Whether the result is whole: the run was not stopped early, left no task out, and has no result in doubt.
[[nodiscard]] bool is_whole(report const& run);
/// Number of results of ranks at fault that the sink had received when audits found them.
[[nodiscard]] std::uint64_t in_doubt(report const& run);

/// Writes the requested report, trace, sample and page. A run whose result is not whole writes no sample,
/// because its cost is not that of the whole problem.
void write_run_files(run_options const& options, std::string const& program, run_outcome const& outcome,
                     std::span<observe::rank_trace const> traces);

/// Writes the seconds of each task, one per line, in the format of skel-simulate --costs.
void write_costs(std::string const& path, std::span<double const> seconds);

/// Returns `farm guided:min=1 streamed: 512 tasks on 4 ranks x 1 thread in 1.93 s, 96 % busy`,
/// followed by lost ranks and checkpoints, if any.
std::string summary_line(report const& run);

/// Says which tasks were left out, where and why: a line for each of the first ten, and one that
/// counts them. Names ranks at fault likewise.
[[nodiscard]] std::vector<std::string> lines_of_failures(report const& run);

}  // namespace skel::program
