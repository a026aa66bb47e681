// Graphs in files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "big_array.hpp"
#include "edge.hpp"

namespace components {

struct graph {
  big_array<edge> edges;
  std::uint64_t nodes = 0;  ///< all ends of edges are smaller
};

/// Reads a graph in one of these formats, gzipped or not. They are recognised by their first bytes,
/// or by the extensions .sg, .mtx and .skel-edges:
///  - an edge list (SNAP's texts, GAPBS's .el): two node numbers from 0 on a line, and up to
///    two more numbers that are ignored; # and % begin comments. Each edge may occur once or twice. The nodes
///    are 0 to the largest number, including those without edges. The number of edges in SNAP's
///    comment "# Nodes: N Edges: M" is checked; N counts occurring numbers and is ignored.
///  - Matrix Market: coordinate, from 1, square, any field and symmetry.
///  - GAPBS's serialised graphs (.sg).
///  - this program's binary form (write_edges).
/// `nodes` is the number of nodes, for files that do not contain it; a larger node is an error.
/// Throws usage_error `path:line: what, expected what`, or `path: at byte N: ...`.
[[nodiscard]] graph read_graph(std::string const& path, std::optional<std::uint64_t> nodes);

/// Writes the binary form (.skel-edges): "skeledge" (8 bytes), version 1 and 0 (4 bytes each), the
/// numbers of nodes and edges (8 bytes each), XXH3 of the edges (64 bits), and the edges as two
/// nodes of 4 bytes each; little-endian.
void write_edges(std::string const& path, std::span<edge const> edges, std::uint64_t nodes);

/// Returns the number of nodes: `known` or the larger --nodes. Throws usage_error if --nodes is
/// less than `known`, the number from the file or formula.
[[nodiscard]] std::uint64_t at_least(std::uint64_t known, std::optional<std::uint64_t> nodes,
                                     std::string const& path);

/// Throws usage_error `what need 17.2 GB, ...` if this machine has less memory.
void require_memory(std::uint64_t bytes, std::string const& what);

/// Writes the labels of nodes 0, 1, ... The extension selects the format: .txt, one per line; .bin,
/// 4 bytes each, little-endian.
void write_labels(std::string const& path, std::span<node const> labels);

}  // namespace components
