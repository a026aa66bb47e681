// What the simulated tasks cost: seconds at power 1, from a file or a distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skel::simulate {

/// `spec` is `constant:C`, `uniform:LOW,HIGH`, `exponential:MEAN`, `pareto:LEAST,SHAPE` (durations as 1ms,
/// 2s; SHAPE a number above 1), or a file (a / or .csv in its name): one number of seconds per line, or the
/// samples of real runs, of which the mean cost per task is taken. Of a file with fewer costs than tasks,
/// they are used again from its beginning; without `tasks` each once. The same seed gives the same costs
/// everywhere.
[[nodiscard]] std::vector<double> task_costs(std::string const& spec, std::optional<std::uint64_t> tasks,
                                             std::uint64_t seed);

/// The fields of a line of CSV; quoted ones without their quotes (RFC 4180).
[[nodiscard]] std::vector<std::string> csv_fields(std::string const& line);
/// NaN for what is no number.
[[nodiscard]] double number(std::string_view text);

}  // namespace skel::simulate
