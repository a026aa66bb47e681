// Cost samples: lines of a CSV file, one per run and one per phase of it; the input of `skel-model fit`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skel/report.hpp"

namespace skel::observe {

/// The first line of every samples file, without line end. The column `schema` is 2 in every line of this
/// version.
inline constexpr std::string_view samples_header =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,seconds,busy_seconds,"
    "idle_seconds,communication_seconds,messages,bytes,problem";

/// What the cost depends on, e.g. {{"width", "512"}, {"scene", "balls:4"}}.
using problem_size = std::vector<std::pair<std::string, std::string>>;

/// The line of the run, phase `run`, and one for each of its phases, in their order; each ends with a line
/// end. Seconds are summed over all ranks but for `seconds`: the wall time of the run, or the phase's maximum
/// over the ranks. Of a phase `bytes` are those of the rank that sent most; what was not measured is left
/// empty, never 0. `problem` of a phase begins with its sizes; of the run's keys those follow that it does
/// not have. The column `problem` is `key=value;key=value`, where %, ;, = and control characters are written
/// as %XX; any field with a comma or a quote in it is quoted as RFC 4180 says. The same run gives the same
/// text.
std::string sample_lines(std::string_view program, report const& run, problem_size const& problem);

/// Appends the lines of one run, and the header before them to a new file. Several processes may append to
/// one file at once. A file that begins with anything but this version's header is refused and left alone.
/// Errors are a skel::error `path: reason`.
void append_sample(std::string const& path, std::string_view program, report const& run,
                   problem_size const& problem = {});

/// Throws what append_sample would throw, before anything was computed. A file that is not there yet is left
/// away.
void check_samples_file(std::string const& path);

}  // namespace skel::observe
