// Table 1 of StormView: what single rays take, those that meet the grid and those that miss it.
#pragma once

#include <string>
#include <vector>

#include "skel/observe/report_json.hpp"
#include "tiles.hpp"

namespace volume {

struct time_summary {
  std::size_t rays = 0;
  double least = 0, most = 0, median = 0, mean = 0, deviation = 0;  ///< seconds
};

/// Statistics of the rays with `hit`; the deviation is the sample's.
[[nodiscard]] time_summary summarize(std::vector<ray_time> const& rays, bool hit);
/// The table in the layout of [Storm95].
[[nodiscard]] std::string table(time_summary const& hitting, time_summary const& missing);
[[nodiscard]] skel::observe::report_object fields(time_summary const& s);

}  // namespace volume
