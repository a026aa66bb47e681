// Connected components on a simulated cluster: the graphs, messages and labels are real, the time is not.
#pragma once

#include <vector>

#include "edge_part.hpp"
#include "skel/divide_and_conquer.hpp"
#include "tools/simulate/block_costs.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

/// Graphs, each as often as the options say, one divide_and_conquer call after the other.
class components_simulation {
 public:
  /// Makes the graphs, once for all ranks. Throws usage_error for what it cannot read.
  explicit components_simulation(options const& o);

  /// On every rank of the simulated cluster. `out` is of the last call; all others leave their samples.
  void run(context& ctx, result& out);
  /// After the simulation.
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
