// A grid of sizes, for the cost model, as in [Hyper, tables 1, 2].
#pragma once

#include <string>

#include "job.hpp"

namespace components {

struct swept {
  skel::report run;  ///< of the last size
  std::uint64_t nodes = 0, edges = 0;
};

/// Finds the components of uniform graphs, N and M from 4,000 to 32,000 as in table 2 and 64 times as many,
/// each `repetitions` times on all ranks. On the root it prints a line per size, and appends all runs but the
/// last to the samples file, if one is named. One rank measures division, halves and combination one after
/// the other, too. Collective.
swept sweep(skel::context& ctx, components_job job, skel::any_division const& kind,
            std::string const& samples, int repetitions);

}  // namespace components
