// The one place where the program calls a skeleton.
#pragma once

#include "job.hpp"
#include "skel/context.hpp"
#include "skel/report.hpp"
#include "skel/schedule/division.hpp"

namespace skel::components {

struct connected {
  roots labels;  ///< on the root
  report run;
};

/// The components of a graph by divide and conquer on all ranks and threads. With `tree` the graph is the
/// root's, and edges travel. Else every rank gives the same graph, of which it needs to hold in memory only
/// what it will solve, if the rest can be made (generated_graph). Throws usage_error for `distributed`.
[[nodiscard]] connected connect(context& ctx, edge_part const& graph, components_job const& job,
                                any_division const& kind);

/// The edges that a rank will solve.
[[nodiscard]] edge_part part_of_rank(edge_part all, components_job const& job, int rank, int ranks);

/// A graph from a formula as connect() wants it: with `tree` all edges on the root, else the rank's own.
[[nodiscard]] edge_part generated_graph(graph_spec const& spec, components_job const& job,
                                        any_division const& kind, int rank, int ranks);

}  // namespace skel::components
