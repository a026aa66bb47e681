// The paper's sequential part: an adjacency list, then a depth-first search, O(2N + M).
#pragma once

#include <span>

#include "edge.hpp"

namespace skel::components {

/// Labels as label_components() gives them, five to ten times as slowly.
void search_depth_first(std::span<edge const> edges, std::span<node> label);

}  // namespace skel::components
