// Reads a file on all ranks, each its own share.
#pragma once

#include <string>

#include "edge_part.hpp"
#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"

namespace components {

struct distributed_graph {
  edge_part edges;  ///< for connect(); this rank's share is in memory
  std::uint64_t nodes = 0;
};

/// Reads a graph for connect(): with `tree` the root reads the whole file, otherwise each rank reads
/// its share. Only the root reads a packed file, and sends the edges around. Every rank needs the
/// file, since it reads the share of a rank that is lost. Collective.
///
/// Throws usage_error on every rank, with the text of read_graph() for the whole file; also if the
/// ranks' files differ in size or in sampled bytes. Returns no edges if the run was stopped.
[[nodiscard]] distributed_graph read_distributed(skel::context& ctx, std::string const& path,
                                                 node_limit nodes, skel::any_division const& kind);

}  // namespace components
