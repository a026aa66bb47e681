// Cost samples, the input of `skel-model fit`: a CSV file with one line per run and one per phase
// of a run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skel/report.hpp"

namespace skel::observe {

/// The first line of every samples file, without line end. The column `schema` is 2 in every line
/// of this version.
inline constexpr std::string_view samples_header =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,seconds,busy_seconds,"
    "idle_seconds,communication_seconds,messages,bytes,problem";

/// The variables that the cost depends on, e.g. {{"width", "512"}, {"scene", "balls:4"}}.
using problem_size = std::vector<std::pair<std::string, std::string>>;

/// Returns one line for the run (phase `run`) and one for each of its phases, in their order, each
/// with a line end. The column `seconds` is the wall time of the run, or the phase's maximum over
/// the ranks; other seconds are summed over all ranks. `bytes` of a phase is the maximum over the
/// ranks. Fields that were not measured are empty, never 0.
///
/// The column `problem` is `key=value;key=value`, where %, ;, = and control characters are written
/// as %XX. For a phase it begins with the phase's sizes, followed by the run's other keys. Fields
/// with a comma or a quote are quoted as in RFC 4180. The text depends on the arguments only.
std::string sample_lines(std::string_view program, report const& run, problem_size const& problem);

/// Appends the lines of one run; a new file gets the header first. Several processes may append to
/// one file at once. Throws skel::error `path: reason`. A file that begins with another header is
/// an error too and is left untouched.
void append_sample(std::string const& path, std::string_view program, report const& run,
                   problem_size const& problem = {});

/// Throws the errors of append_sample() in advance, before anything is computed. Accepts a missing
/// file and does not create it.
void check_samples_file(std::string const& path);

}  // namespace skel::observe
