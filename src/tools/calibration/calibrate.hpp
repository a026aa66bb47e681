// Measures the cost of communication through the engine, as the skeletons pay it, on MPI or
// simulated.
#pragma once

#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/model/machine.hpp"

namespace skel::model {

struct calibrate_options {
  std::vector<int>
      ranks;  ///< numbers of ranks to measure with (the lowest of the context); empty: 2, 4, … and all
  std::vector<std::string> kinds{"raw", "serialised"};
  int repetitions = 7;
  bool least = false;  ///< use the shortest repetition instead of the median, for a shared machine
  double largest_bytes = 4 << 20;    ///< largest message, in bytes
  double seconds_per_pattern = 1.0;  ///< larger messages are skipped once a pattern takes longer than this
};

/// Runs the micro-benchmarks of [Hyper, §5.1]: worst-case latency l(P) and throughput g(P) of full
/// all-to-all exchanges, once with varying sizes and once with varying numbers of messages;
/// ping-pong; and exchanges in pairs. All ranks start each repetition at the same moment of the
/// root's clock. A repetition ends when the last rank has received everything; the median is used.
/// Collective; the result is on the root. Throws usage_error with fewer than two ranks.
[[nodiscard]] machine calibrate(context& ctx, calibrate_options const& options = {});

}  // namespace skel::model
