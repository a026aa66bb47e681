// The readers behind read_graph, one for each format.
#pragma once

#include <optional>

#include "graph_file.hpp"
#include "input.hpp"

namespace skel::components {

using node_limit = std::optional<std::uint64_t>;

[[nodiscard]] graph read_edge_list(input& in, node_limit nodes);
[[nodiscard]] graph read_matrix_market(input& in, node_limit nodes);
[[nodiscard]] graph read_serialized_graph(input& in, node_limit limit);
[[nodiscard]] graph read_binary_edges(input& in, node_limit limit);

inline constexpr char binary_magic[] = "skeledge";
inline constexpr char matrix_magic[] = "%%MatrixMarket";

}  // namespace skel::components
