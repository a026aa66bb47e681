// The programs that skel-components is compared with: from the same edges to the same labels.
#pragma once

#include <span>

#include "edge.hpp"

namespace peers {

using components::edge;
using components::node;

/// Union-find with path halving and links to the smaller root, edge by edge.
void union_find(std::span<edge const> edges, std::span<node> label);

/// Afforest after Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation
/// via subgraph sampling", IPDPS 2018. First builds its graph from the edges, as the GAP benchmark
/// suite does.
void afforest(std::span<edge const> edges, std::span<node> label, unsigned threads);

}  // namespace peers
