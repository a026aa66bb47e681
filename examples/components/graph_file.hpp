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
  std::uint64_t nodes = 0;  ///< every end of an edge is smaller
};

/// Reads one of these, gzipped or not, recognised by their first bytes, or by the endings .sg, .mtx,
/// .skel-edges:
///  - an edge list: SNAP's texts, GAPBS's .el: two node numbers from 0 on a line, and up to two more
///    numbers that are ignored; # and % begin comments. Each edge may stand there once or twice. The nodes
///    are 0 to the largest number, those without edges included. SNAP's comment "# Nodes: N Edges: M" must be
///    true about M; N counts the numbers that occur, and is not looked at.
///  - Matrix Market: coordinate, from 1, square, of any field and symmetry.
///  - GAPBS's serialised graphs (.sg).
///  - this program's binary form (write_edges).
/// `nodes`: how many there are, for files that do not say so; a node beyond is an error. Errors are
/// usage_errors, `path:line: what, expected what`, or `path: at byte N: ...`.
[[nodiscard]] graph read_graph(std::string const& path, std::optional<std::uint64_t> nodes);

/// The binary form, with the ending .skel-edges: 8 bytes "skeledge", version (1) and 0 in 4 bytes each, the
/// numbers of nodes and edges in 8 bytes each, XXH3 (64 bits) of the edges, the edges: two nodes in 4 bytes
/// each; little-endian.
void write_edges(std::string const& path, std::span<edge const> edges, std::uint64_t nodes);

/// How many nodes there are, where the file or formula says `known`; throws usage_error if --nodes is less.
[[nodiscard]] std::uint64_t at_least(std::uint64_t known, std::optional<std::uint64_t> nodes,
                                     std::string const& path);

/// Throws usage_error `what needs 17.2 GB, ...` if this machine has less memory.
void require_memory(std::uint64_t bytes, std::string const& what);

/// The labels of nodes 0, 1, ..., in the form that the ending names: .txt, a line each; .bin, 4 bytes each,
/// little-endian.
void write_labels(std::string const& path, std::span<node const> labels);

}  // namespace components
