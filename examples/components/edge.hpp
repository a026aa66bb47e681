// The types of nodes and edges used throughout the program.
#pragma once

#include <compare>
#include <cstdint>

namespace components {

/// Nodes are numbered from 0 and have 32 bits.
using node = std::uint32_t;

/// The largest number of nodes: one less than 2^32, so that a count of nodes fits a node too.
inline constexpr std::uint64_t most_nodes = 4'294'967'295;

/// Undirected: (u, v) is (v, u). Self-loops and repeated edges are allowed.
struct edge {
  node u, v;
  auto operator<=>(edge const&) const = default;
};
static_assert(sizeof(edge) == 8);

}  // namespace components
