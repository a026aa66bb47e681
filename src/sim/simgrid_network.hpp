// Builds the network of a platform in SimGrid.
#pragma once

#include <simgrid/s4u/Host.hpp>
#include <vector>

#include "skel/sim/platform.hpp"

namespace skel::sim {

/// Creates one host per rank. SimGrid's engine must exist.
[[nodiscard]] std::vector<simgrid::s4u::Host*> build_network(network const& wires, std::size_t ranks);

}  // namespace skel::sim
