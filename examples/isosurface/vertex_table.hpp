// Maps edges to vertices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "piece_mesh.hpp"

namespace isosurface {

/// A hash table with open addressing. A cache line holds several entries; nothing is removed.
class vertex_table {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// The vertex of an edge. For a new edge it is `none` and must be set before the next call.
  [[nodiscard]] std::uint32_t& of(edge_key edge) {
    if (2 * used_ >= entries_.size()) grow();
    auto& e = find(edge);
    if (e.edge == empty) e.edge = edge, ++used_;
    return e.vertex;
  }

 private:
  static constexpr edge_key empty = UINT64_MAX;
  struct entry {
    edge_key edge = empty;
    std::uint32_t vertex = none;
  };

  entry& find(edge_key edge) {
    auto const mask = entries_.size() - 1;
    auto at =
        ((edge * 0x9e3779b97f4a7c15U) >> 32U) & mask;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
    while (entries_[at].edge != edge && entries_[at].edge != empty) at = (at + 1) & mask;
    return entries_[at];
  }
  void grow() {
    constexpr std::size_t least = 64;
    auto const old = std::exchange(entries_, std::vector<entry>(std::max(least, 2 * entries_.size())));
    for (auto const& e : old)
      if (e.edge != empty) find(e.edge) = e;
  }

  std::vector<entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace isosurface
