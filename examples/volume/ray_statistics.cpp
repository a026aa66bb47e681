#include "ray_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace volume {

time_summary summarize(std::vector<ray_time> const& rays, bool hit) {
  std::vector<double> seconds;
  for (auto const& r : rays)
    if ((r.hit != 0) == hit) seconds.push_back(static_cast<double>(r.seconds));
  time_summary s;
  s.rays = seconds.size();
  if (seconds.empty()) return s;
  std::ranges::sort(seconds);
  auto const n = seconds.size();
  s.least = seconds.front();
  s.most = seconds.back();
  s.median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
  for (auto const x : seconds) s.mean += x / static_cast<double>(n);
  double squares = 0;
  for (auto const x : seconds) squares += (x - s.mean) * (x - s.mean);
  s.deviation = n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : 0;
  return s;
}

std::string table(time_summary const& hitting, time_summary const& missing) {
  auto const row = [](char const* name, double a, double b) {
    return fmt::format("{:8} {:>24.9f} {:>24.9f}\n", name, a, b);
  };
  return fmt::format("{:8} {:>24} {:>24}\n", "seconds", fmt::format("hitting grid ({})", hitting.rays),
                     fmt::format("missing grid ({})", missing.rays)) +
         row("Min", hitting.least, missing.least) + row("Max", hitting.most, missing.most) +
         row("Median", hitting.median, missing.median) + row("Mean", hitting.mean, missing.mean) +
         row("Std.dev", hitting.deviation, missing.deviation);
}

skel::observe::report_object fields(time_summary const& s) {
  return {{"rays", s.rays},
          {"seconds_minimum", s.least},
          {"seconds_maximum", s.most},
          {"seconds_median", s.median},
          {"seconds_mean", s.mean},
          {"seconds_deviation", s.deviation}};
}

}  // namespace volume
