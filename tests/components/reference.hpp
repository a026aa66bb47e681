// The simplest way to find components, for comparison.
#pragma once

#include <algorithm>
#include <vector>

#include "edge.hpp"
#include "edge_part.hpp"

namespace reference {

using namespace components;

/// Propagates labels along the edges until nothing changes.
inline std::vector<node> labels(std::vector<edge> const& edges, std::uint64_t nodes) {
  std::vector<node> label(nodes);
  for (std::size_t i = 0; i < nodes; ++i) label[i] = static_cast<node>(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto const& e : edges) {
      auto const least = std::min(label[e.u], label[e.v]);
      changed = changed || label[e.u] != label[e.v];
      label[e.u] = label[e.v] = least;
    }
  }
  return label;
}

inline std::vector<edge> edges_of(graph_spec const& spec) {
  std::vector<edge> edges(spec.edges);
  generate(spec, 0, edges);
  return edges;
}

inline edge_part part_of(std::vector<edge> const& edges) {
  big_array<edge> all(edges.size());
  std::copy(edges.begin(), edges.end(), all.begin());
  return edge_part(std::move(all));
}

}  // namespace reference
