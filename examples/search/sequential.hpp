// Searches without skel: the baseline of skel-search, and its verification.
#pragma once

#include "uts.hpp"

namespace search {

/// Depth-first search with a stack of nodes, the straightforward implementation that the benchmark
/// compares with.
[[nodiscard]] tree_counts traverse(uts_parameters const& parameters);

/// Searches by another method: SHA-1 written out (FIPS 180-4), the number of children by the
/// definition, and one path from the root instead of a stack of nodes. Slower; for --verify.
[[nodiscard]] tree_counts traverse_independently(uts_parameters const& parameters);

}  // namespace search
