// Checkpoints of programs, as skel-checkpoint tells of them: generations of parts.
#pragma once

#include <string>
#include <vector>

#include "skel/storage/repository.hpp"
#include "tools/checkpoint/verbs.hpp"

namespace skel::storage {

/// `PROGRAM VERSION, generation N`
[[nodiscard]] std::string title(stored_generation const& g);

/// A line for each generation, which ends with `more`, and one for each part that is not whole.
void list_generation(stored_generation const& g, std::string const& more);

/// Reads every block and says likewise what is there; problems go to `report`. True where nothing is amiss.
bool verify_generation(stored_generation const& g, arguments const& a, report_problem const& report);

/// Writes what is missing or damaged anew. False where the generation is lost: then nothing was written.
bool repair_generation(stored_generation const& g, arguments const& a);

}  // namespace skel::storage
