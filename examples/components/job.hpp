// Connected components as a job of skel::divide_and_conquer, the case study of [Hyper, §6]. Edges
// are divided, each part gives a forest, and forests are combined.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "edge_part.hpp"
#include "labels.hpp"
#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/observe/samples.hpp"
#include "skel/report.hpp"

namespace components {

/// The algorithm of a single rank.
enum class local_method : std::uint8_t {
  union_find,
  dfs,  ///< adjacency list and depth-first search, as in [Hyper, table 2]
};

struct components_job {
  using problem = edge_part;
  using solution = roots;

  std::uint64_t nodes = 0;  ///< N; at most most_nodes
  local_method local = local_method::union_find;
  exchange how = exchange::cheapest;

  [[nodiscard]] bool trivial(edge_part const& part) const { return part.size() <= 1; }
  [[nodiscard]] roots conquer(edge_part const& part) const { return solve(part); }
  /// The first ceil(M / 2) edges, and the rest.
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& part) const { return part.halves(); }
  /// Gives the first part this share of the edges, for numbers of ranks that are not powers of two.
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& part, double share) const;
  [[nodiscard]] roots combine(roots a, roots b) const { return roots::combine(std::move(a), std::move(b)); }
  [[nodiscard]] roots solve(edge_part const& part) const { return solve(part, 1); }
  /// All threads link in one forest, which is less work than combining their solutions.
  [[nodiscard]] roots solve(edge_part const& part, unsigned threads) const;

  /// The sizes that the cost functions depend on: T_div on M, T_comb on N, T_seq on both [Hyper,
  /// §7].
  [[nodiscard]] std::vector<std::pair<std::string, double>> measure(edge_part const& part) const {
    return {{"N", static_cast<double>(nodes)}, {"M", static_cast<double>(part.size())}};
  }
};

struct connected {
  roots labels;  ///< on the root
  skel::report run;
};

/// Throws usage_error for `distributed`: parts of the labels are not a solution.
void refuse_parts(skel::any_division const& kind);

/// Finds the components of a graph by divide and conquer on all ranks and threads. With `tree` only
/// the root's graph is used, and edges are sent. Otherwise every rank passes the same graph, but
/// needs in memory only the edges that it will solve, if the others can be generated
/// (generated_graph). Throws usage_error for `distributed`. `Job` is components_job or derived from
/// it.
template <class Job>
[[nodiscard]] connected connect(skel::context& ctx, edge_part const& graph, Job const& job,
                                skel::any_division const& kind) {
  refuse_parts(kind);
  auto found = kind.which() == skel::any_division::kind::tree
                   ? skel::divide_and_conquer(ctx, skel::on_root([&] { return graph; }), job, kind)
                   : skel::divide_and_conquer(ctx, skel::replicated_problem{graph}, job, kind);
  connected result{{}, std::move(found.report)};
  if (found.value.here()) result.labels = *std::move(found.value);
  return result;
}

/// Generates the graph for connect(): with `tree` all edges on the root, otherwise those that the
/// rank will solve.
[[nodiscard]] edge_part generated_graph(graph_spec const& spec, components_job const& job,
                                        skel::any_division const& kind, int rank, int ranks);

/// The sizes that a run's cost depends on, for its samples.
[[nodiscard]] skel::observe::problem_size sizes_of(components_job const& job, std::uint64_t edges);

}  // namespace components
