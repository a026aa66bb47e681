// Prints checkpoints of programs, which are generations of parts.
#pragma once

#include <string>
#include <vector>

#include "skel/storage/repository.hpp"
#include "tools/checkpoint/verbs.hpp"

namespace skel::storage {

/// `PROGRAM VERSION, generation N`
[[nodiscard]] std::string title(stored_generation const& g);

/// Prints a line per generation, which ends with `more`, and a line per incomplete part.
void list_generation(stored_generation const& g, std::string const& more);

/// Reads every block and prints the result like list_generation(). Problems go to `report`. Returns
/// true if the generation is undamaged.
bool verify_generation(stored_generation const& g, arguments const& a, report_problem const& report);

/// Rewrites missing and damaged shards, not those of its bases. Returns false, and writes nothing, if the
/// generation is lost.
bool repair_generation(stored_generation const& g, arguments const& a);
/// Removes what is left of a generation.
void remove_generation(stored_generation const& g, arguments const& a);

}  // namespace skel::storage
