// Graphs by formula. Edge i depends on the parameters and i only, so every rank makes its own part, and any
// part, without the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "edge.hpp"

namespace skel::components {

enum class graph_kind : std::uint8_t { uniform, kronecker, grid };

/// What --generate says. Kinds:
///   uniform:n=,m=,seed=             both ends of m edges drawn from n nodes, independently
///                                   (Erdős and Rényi, with repetitions)
///   kronecker:scale=,degree=,seed=  2^scale nodes, degree * 2^scale edges with Graph500's probabilities
///                                   0.57, 0.19, 0.19, 0.05 (R-MAT of Chakrabarti, Zhan and Faloutsos 2004),
///                                   nodes renumbered at random
///   grid:width=,height=,seed=       neighbours in a rectangle; row by row, or in a random order where a
///                                   seed is given
struct graph_spec {
  graph_kind kind = graph_kind::uniform;
  std::uint32_t width = 0;  ///< grid: nodes in a row
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t seed = 0;
  bool shuffled = false;  ///< grid: in a random order
  bool operator==(graph_spec const&) const = default;
};

/// Throws usage_error `--generate: ...` with what was expected.
[[nodiscard]] graph_spec parse_graph(std::string_view spec);
[[nodiscard]] std::string to_string(graph_spec const& g);

/// Edges first, first + 1, ... of the graph, as many as fit.
void generate(graph_spec const& spec, std::uint64_t first, std::span<edge> edges);

}  // namespace skel::components
