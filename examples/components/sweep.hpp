// Runs a grid of sizes for the cost model, as in [Hyper, tables 1, 2].
#pragma once

#include <string>

#include "job.hpp"

namespace components {

struct swept {
  skel::report run;  ///< of the last size
  std::uint64_t nodes = 0, edges = 0;
};

/// Finds the components of uniform graphs `repetitions` times on all ranks, with N and M from 4,000
/// to 32,000 as in table 2, and 64 times as many. The root prints a line per size and, at the end,
/// appends all runs except the last to the samples file, if one is given. On a single rank, division, halves
/// and combination are also measured one after the other. Collective.
swept sweep(skel::context& ctx, components_job job, skel::any_division const& kind,
            std::string const& samples, int repetitions);

}  // namespace components
