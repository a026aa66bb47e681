// The one place where the program calls a skeleton.
#pragma once

#include <utility>

#include "job.hpp"
#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/observe/samples.hpp"
#include "skel/report.hpp"

namespace skel::components {

struct connected {
  roots labels;  ///< on the root
  report run;
};

/// Throws usage_error for `distributed`: parts of the labels are no labels.
void refuse_parts(any_division const& kind);

/// The components of a graph by divide and conquer on all ranks and threads. With `tree` the graph is the
/// root's, and edges travel. Else every rank gives the same graph, of which it needs to hold in memory only
/// what it will solve, if the rest can be made (generated_graph). Throws usage_error for `distributed`.
/// `Job` is components_job, or one made from it.
template <class Job>
[[nodiscard]] connected connect(context& ctx, edge_part const& graph, Job const& job,
                                any_division const& kind) {
  refuse_parts(kind);
  auto found = kind.which() == any_division::kind::tree
                   ? divide_and_conquer(ctx, on_root([&] { return graph; }), job, kind)
                   : divide_and_conquer(ctx, replicated_problem{graph}, job, kind);
  connected result{{}, std::move(found.report)};
  if (found.value.here()) result.labels = *std::move(found.value);
  return result;
}

/// The edges that a rank will solve.
[[nodiscard]] edge_part part_of_rank(edge_part all, components_job const& job, int rank, int ranks);

/// A graph from a formula as connect() wants it: with `tree` all edges on the root, else the rank's own.
[[nodiscard]] edge_part generated_graph(graph_spec const& spec, components_job const& job,
                                        any_division const& kind, int rank, int ranks);

/// What a run's cost depends on, for its samples.
[[nodiscard]] observe::problem_size sizes_of(components_job const& job, std::uint64_t edges);

}  // namespace skel::components
