// [Storm95, table 1]: times of single rays that hit and that miss the grid.
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

/// Statistics of the rays whose hit equals `hit`; the deviation is that of the sample.
[[nodiscard]] time_summary summarize(std::vector<ray_time> const& rays, bool hit);
/// The table in the layout of [Storm95].
[[nodiscard]] std::string table(time_summary const& hitting, time_summary const& missing);
[[nodiscard]] skel::observe::report_object fields(time_summary const& s);

}  // namespace volume
