// Times of simulated candidates, with intervals. All candidates run the same draws of tasks, and those
// that are clearly slower get few of them.
#pragma once

#include <vector>

#include "tools/model/simulated.hpp"

namespace skel::model {

struct simulated_times {
  std::vector<double> logarithms;  ///< of the seconds, by seed
  double seconds = 0;              ///< the expected time
  double deviation = 0;            ///< standard deviation of the logarithms
  double low = 0, high = 0;        ///< the interval that contains the time of one more run
};

struct race_options {
  int seeds = 16;           ///< most runs per candidate
  double tolerance = 0.05;  ///< accepted slowdown of a candidate with fewer ranks
  double confidence = 0.95;
};

/// Returns the times of the candidates in their order. Simulates several at a time, one per core.
[[nodiscard]] std::vector<simulated_times> race(simulator const& cluster,
                                                std::vector<simulated_run> const& runs,
                                                race_options const& options);

/// The probability that the next run of a takes less time than that of b, if both have the same tasks.
[[nodiscard]] double probability_faster(simulated_times const& a, simulated_times const& b);

}  // namespace skel::model
