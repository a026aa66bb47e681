// The probability that a checkpoint can be restored, depending on the number of lost nodes.
#pragma once

#include <string>

namespace bench {

/// For the paper's 10 nodes and for 32: each node saves its part, shards are placed as the
/// repository places them, and every set of lost nodes is tried. Writes PREFIX.csv and PREFIX.svg.
void availability(std::string const& prefix);

}  // namespace bench
