// Connected components of a graph on all ranks [Hyper, §6], the library of skel-components.
//
//     auto const found = components::label_edges(ctx, my_edges, 1'000'000);
//     if (ctx.is_root()) print(found.labels);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/report.hpp"

/// Connected components of graphs; link `skel::applications`.
namespace components {

/// The components of a graph, on the root.
struct component_labels {
  std::vector<std::uint32_t> labels;  ///< of each node: the lowest node of its component
  skel::report run;                   ///< complete on the root
};

/// Labels the nodes 0 to nodes - 1, at most 2^32 - 1. Collective: each rank passes its own edges,
/// pairs of nodes in any order; all ranks' edges together are the graph. The same labels for every
/// distribution of the edges. Throws the errors of skel::divide_and_conquer with skel::own_part:
/// lost_rank_error if a rank is lost, since its edges are lost with it. Throws usage_error, on the
/// rank that has it, for an edge with a node that does not exist, and on all if they pass different
/// numbers of nodes.
[[nodiscard]] component_labels label_edges(skel::context& ctx,
                                           std::span<std::array<std::uint32_t, 2> const> edges,
                                           std::uint64_t nodes,
                                           skel::divide_and_conquer_options const& options = {});

}  // namespace components
