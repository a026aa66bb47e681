// Connected components on a simulated cluster: graphs, messages and labels are real, only time is
// virtual.
#pragma once

#include <vector>

#include "edge_part.hpp"
#include "skel/divide_and_conquer.hpp"
#include "tools/simulate/block_costs.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

/// Runs one divide_and_conquer call after the other: each graph as often as the options request.
class components_simulation {
 public:
  /// Builds the graphs once for all ranks. Throws usage_error if a graph cannot be read.
  explicit components_simulation(options const& o);

  /// Called on every rank of the simulated cluster. `out` receives the last call; the others only
  /// append samples.
  void run(context& ctx, result& out);
  /// Called after the simulation.
  void save_trace() const;

 private:
  struct graph {
    components::graph_spec spec;
    components::edge_part edges;
  };
  options const& options_;
  any_division kind_;
  block_costs costs_;
  std::vector<graph> graphs_;
};

}  // namespace skel::simulate
