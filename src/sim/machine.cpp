// Computes the time that a machine with a changing share of its power needs for some work.
#include <algorithm>
#include <cmath>
#include <limits>

#include "skel/sim/platform.hpp"

namespace skel::sim {

machine::stretch machine::stretch_at(double time) const {
  double const for_ever = std::numeric_limits<double>::infinity();
  if (available.empty()) return {1, for_ever};
  double const period = repeat_seconds > 0 ? std::floor(time / repeat_seconds) * repeat_seconds : 0;
  double share = repeat_seconds > 0 ? available.back().share : 1;
  for (auto const& a : available) {
    if (period + a.at_seconds > time) return {share, period + a.at_seconds};
    share = a.share;
  }
  if (repeat_seconds <= 0) return {share, for_ever};
  // After the last change, the stretch lasts until the first change of the next period. Rounding must not end
  // it before it begins.
  double const end = period + repeat_seconds + available.front().at_seconds;
  return {share, end > time ? end : end + repeat_seconds};
}

double machine::work_done(double from, double to) const {
  double work = 0;
  while (from < to) {
    auto const s = stretch_at(from);
    double const end = std::min(to, s.end);
    work += (end - from) * s.share * power;
    from = end;
  }
  return work;
}

double machine::finish_time(double from, double work) const {
  while (true) {
    auto const s = stretch_at(from);
    double const rate = s.share * power;
    double const end = from + work / rate;
    if (end <= s.end) return end;
    work -= (s.end - from) * rate;
    from = s.end;
  }
}

double platform::ideal_seconds(double work, bool serving) const {
  auto const done_at = [&](double time) {
    double done = 0;
    for (std::size_t m = serving && machines.size() > 1 ? 1 : 0; m < machines.size(); ++m)
      done += machines[m].work_done(0, time);
    return done;
  };
  double high = 1;
  while (done_at(high) < work) high *= 2;
  double low = 0;
  for (int i = 0; i < 100 && low < high; ++i) {
    double const middle = (low + high) / 2;
    (done_at(middle) < work ? low : high) = middle;
  }
  return high;
}

}  // namespace skel::sim
