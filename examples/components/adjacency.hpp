// Every node's neighbours, one node after the other (compressed sparse rows).
#pragma once

#include <cstdint>
#include <span>

#include "big_array.hpp"
#include "edge.hpp"

namespace skel::components {

/// `Offset` holds twice the number of edges: 4 bytes do for two thousand million, and take half the memory.
template <class Offset>
class adjacency {
 public:
  adjacency(std::span<edge const> edges, std::uint64_t nodes)
      : offsets_(nodes + 1), neighbours_(2 * edges.size()) {
    for (auto& o : offsets_) o = 0;
    for (auto const& e : edges) ++offsets_[e.u], ++offsets_[e.v];
    Offset sum = 0;
    for (auto& o : offsets_) sum += o, o = sum;
    for (auto const& e : edges) {  // from the back: then every offset ends at its node's first neighbour
      neighbours_[--offsets_[e.u]] = e.v;
      neighbours_[--offsets_[e.v]] = e.u;
    }
  }
  [[nodiscard]] std::span<node const> of(node x) const {
    return neighbours_.span().subspan(offsets_[x], offsets_[x + std::uint64_t{1}] - offsets_[x]);
  }

 private:
  big_array<Offset> offsets_;
  big_array<node> neighbours_;
};

}  // namespace skel::components
