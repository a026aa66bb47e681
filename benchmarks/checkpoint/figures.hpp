// Figures that are measured or counted once, as PREFIX.csv and PREFIX.svg.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Figure 2 of the paper: the time to encode and decode, over the size of the data up to `largest` bytes, the
/// number of slices, and k.
void figure_2(std::string const& prefix, std::size_t largest, int rounds);

/// The probability that a checkpoint can be restored, depending on the number of lost nodes. For the paper's
/// 10 nodes and for 32: each node saves its part, shards are placed as the repository places them, and every
/// set of lost nodes is tried.
void availability(std::string const& prefix);

/// Wide codes, and plans of decoding, in the caches.
void wide_codes(int rounds);

}  // namespace bench
