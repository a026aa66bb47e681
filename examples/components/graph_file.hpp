// Graphs in files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "big_array.hpp"
#include "edge.hpp"

namespace components {

/// The number of nodes, for files that do not contain it; a larger node is an error.
using node_limit = std::optional<std::uint64_t>;
/// Receives edges, a block at a time.
using edge_sink = std::function<void(std::span<edge const>)>;

/// A share of the edges of a file. The `parts` shares have each edge once and are about equal: the lines
/// that begin in a range of bytes, or edges first ... last - 1 of a binary file. A packed file deals
/// blocks of edges to its shares in turn.
struct file_share {
  std::uint64_t part = 0, parts = 1;
};

/// What a share and the head of its file say about the graph.
struct file_facts {
  std::uint64_t edges = 0;                  ///< of the share
  std::uint64_t nodes = 0;                  ///< all ends of edges are smaller
  std::optional<std::uint64_t> expected{};  ///< edges of all shares, if the head states them
  std::uint64_t unpaired = 0;  ///< hashes of directions of edges; those of all shares add up to 0
  bool has_hash = false;       ///< the head has a hash of all edges, which was not checked
};

/// Reads a share of a graph in one of these formats, gzipped or not. They are recognised by their first
/// bytes, or by the extensions .sg, .mtx, .skel-edges and .el, in small letters or capitals:
///  - an edge list (SNAP's texts, GAPBS's .el): two node numbers from 0 on a line, and up to
///    two more numbers or networkx's {...}, which are ignored; # and % begin comments. Each edge may occur
///    once or twice. The nodes are 0 to the largest number, including those without edges. The number of
///    edges in SNAP's comment "# Nodes: N Edges: M" before the first edge is checked; N counts occurring
///    numbers and is ignored.
///  - Matrix Market: coordinate, from 1, square, any field and symmetry.
///  - GAPBS's serialised graphs (.sg).
///  - this program's binary form (write_edges).
/// A byte order mark is skipped. Graphs of METIS are refused: .graph, .metis, or such a content.
/// Throws usage_error `path:line: what, expected what`, or `path: at byte N: ...`. Only a whole file
/// is checked completely and has right line numbers.
file_facts read_edges(std::string const& path, node_limit nodes, file_share share, edge_sink const& sink);

struct graph {
  big_array<edge> edges;
  std::uint64_t nodes = 0;
};
/// Reads a whole file.
[[nodiscard]] graph read_graph(std::string const& path, node_limit nodes);

/// A packed file deals blocks of this many edges to its shares.
inline constexpr std::uint64_t dealt_edges = 4096;

/// Calls the sink for all edges, in their order; the same edges each time.
using edge_blocks = std::function<void(edge_sink const&)>;

/// Writes the binary form (.skel-edges): "skeledge" (8 bytes), version 1 and 0 (4 bytes each), the
/// numbers of nodes and edges (8 bytes each), XXH3 of the edges (64 bits), and the edges as two
/// nodes of 4 bytes each; little-endian.
void write_edges(std::string const& path, edge_blocks const& edges, std::uint64_t nodes);

/// Returns the number of nodes: `known` or the larger --nodes. Throws usage_error if --nodes is
/// less than `known`, the number from the file or formula.
[[nodiscard]] std::uint64_t at_least(std::uint64_t known, node_limit nodes, std::string const& path);

/// Throws usage_error `what need 17.2 GB, ...` if this machine has less memory.
void require_memory(std::uint64_t bytes, std::string const& what);

/// Writes the labels of nodes 0, 1, ... The extension selects the format: .txt, one per line; .bin,
/// 4 bytes each, little-endian.
void write_labels(std::string const& path, std::span<node const> labels);

}  // namespace components
