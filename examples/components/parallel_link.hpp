// Union-find by several threads.
#pragma once

#include <span>

#include "edge.hpp"

namespace skel::components {

/// Labels of the graph with these edges: label[x] is the smallest node of x's component. `label` need not be
/// initialised; it holds every node that occurs. The same bytes for every number of threads.
void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads);

}  // namespace skel::components
