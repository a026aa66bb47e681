// Searching without skel: what skel-search is measured against, and verified by.
#pragma once

#include "uts.hpp"

namespace search {

/// Depth first with a stack of nodes, as one would write it: the yardstick of the benchmark.
[[nodiscard]] tree_counts traverse(uts_parameters const& parameters);

/// By another method: SHA-1 written out (FIPS 180-4), the number of children by the definition, one path from
/// the root instead of a stack of nodes. Slower; for --verify.
[[nodiscard]] tree_counts traverse_independently(uts_parameters const& parameters);

}  // namespace search
