// What skel-components is measured against: from the same edges to the same labels.
#pragma once

#include <span>

#include "edge.hpp"

namespace peers {

using components::edge;
using components::node;

/// Union-find with path halving and links to the smaller root, one edge after the other.
void union_find(std::span<edge const> edges, std::span<node> label);

/// Afforest, written after Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via
/// subgraph sampling", IPDPS 2018, with its graph built from the edges first, as the GAP benchmark suite
/// does.
void afforest(std::span<edge const> edges, std::span<node> label, unsigned threads);

}  // namespace peers
