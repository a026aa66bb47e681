// The network of a platform, built in SimGrid.
#pragma once

#include <simgrid/s4u/Host.hpp>
#include <vector>

#include "skel/sim/platform.hpp"

namespace skel::sim {

/// Calls for SimGrid's engine, which must exist. One host per rank.
[[nodiscard]] std::vector<simgrid::s4u::Host*> build_network(network const& wires, std::size_t ranks);

}  // namespace skel::sim
