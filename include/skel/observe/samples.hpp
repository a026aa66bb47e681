// Cost samples: one line of a CSV file per run, the input of `skel-model fit`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skel/report.hpp"

namespace skel::observe {

/// The first line of every samples file, without line end. The column `schema` is 1 in every line of this
/// version.
inline constexpr std::string_view samples_header =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,tasks,seconds,busy_seconds,idle_seconds,"
    "communication_seconds,messages,bytes,problem";

/// What the cost depends on, e.g. {{"width", "512"}, {"scene", "balls:4"}}.
using problem_size = std::vector<std::pair<std::string, std::string>>;

/// One line without line end. Seconds are summed over all ranks but for `seconds`, the wall time of the run.
/// The column `problem` is `key=value;key=value`, where %, ;, = and control characters are written as %XX;
/// any field with a comma or a quote in it is quoted as RFC 4180 says. The same run gives the same text.
std::string sample_line(std::string_view program, report const& run, problem_size const& problem);

/// Appends one line, and the header before it to a new file. Several processes may append to one file at
/// once. A file that begins with anything but this version's header is refused and left alone. Errors are a
/// skel::error `path: reason`.
void append_sample(std::string const& path, std::string_view program, report const& run,
                   problem_size const& problem = {});

/// Throws what append_sample would throw, before anything was computed. A file that is not there yet is left
/// away.
void check_samples_file(std::string const& path);

}  // namespace skel::observe
