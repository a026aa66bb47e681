// Measures what communication costs, through the engine: what skeletons pay, on MPI or simulated.
#pragma once

#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/model/machine.hpp"

namespace skel::model {

struct calibrate_options {
  std::vector<int>
      ranks;  ///< numbers of ranks to measure with, the first of the context; empty: 2, 4, … and all
  std::vector<std::string> kinds{"raw", "serialised"};
  int repetitions = 7;
  bool least = false;  ///< the shortest repetition counts, not the median: on a machine that others use, too
  double largest_bytes = 4 << 20;    ///< of a message
  double seconds_per_pattern = 1.0;  ///< larger messages are not tried when one pattern takes longer
};

/// Collective; the result is on the root. Micro-benchmarks of section 5.1 of "Hypercube Divide and Conquer":
/// worst case latency l(P), and throughput g(P) of full all-to-all exchanges, each with the size and with the
/// number of messages varying; ping-pong; and exchanges in pairs. The ranks start each repetition at one
/// moment of the root's clock; a repetition lasts until the last rank has everything, and the median counts.
/// usage_error with fewer than two ranks.
[[nodiscard]] machine calibrate(context& ctx, calibrate_options const& options = {});

}  // namespace skel::model
