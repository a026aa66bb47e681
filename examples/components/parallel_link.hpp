// Union-find by several threads.
#pragma once

#include <cstddef>
#include <span>

#include "edge.hpp"

namespace skel::components {

/// Labels of the graph with these edges: label[x] is the smallest node of x's component. `label` need not be
/// initialised; it holds every node that occurs. The same bytes for every number of threads. Another thread
/// is started where there are `worthwhile` edges for each. Fewer are linked edge by edge, without looking
/// first for those that join trees. Where they need more than `tolerated` times as long as one did for the
/// first edges, all together, one goes on alone; without others it needs up to 1.7 times as long when trees
/// have grown.
void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile = 1U << 19U, double tolerated = 1.6);

}  // namespace skel::components
