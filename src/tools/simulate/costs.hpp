// The costs of simulated tasks: seconds at power 1, from a file or a distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skel::simulate {

/// Returns the cost of each task. `spec` is `constant:C`, `uniform:LOW,HIGH`, `exponential:MEAN`,
/// `pareto:LEAST,SHAPE` (durations such as 1ms or 2s; SHAPE a number above 1), or a file (a slash
/// or .csv in its name). A file holds one number of seconds per line, or samples of real runs, of
/// which the mean cost per task is used. If a file has fewer costs than `tasks`, they are reused
/// from the beginning; without `tasks` each is used once. The same seed gives the same costs on
/// every platform.
[[nodiscard]] std::vector<double> task_costs(std::string const& spec, std::optional<std::uint64_t> tasks,
                                             std::uint64_t seed);

}  // namespace skel::simulate
