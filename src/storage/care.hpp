// Maintenance of a store: removal of old generations, verification, repair.
#pragma once

#include <string>
#include <vector>

#include "storage/catalogue.hpp"

namespace skel::storage {

// See the functions of repository with these names.
[[nodiscard]] bool lies_in(inventory const& here, stored_generation const& g, bool remote);
void remove_old(inventory const& here, generation_plan const& plan);
[[nodiscard]] stored_generation verify(inventory const& here, stored_generation const& what,
                                       count_bytes const& progress);
std::vector<std::string> repair(inventory const& here, stored_generation const& what,
                                stored_generation const& whole);
std::vector<std::string> tidy(inventory const& here, generation_plan const& plan);
std::vector<std::string> remove(inventory const& here, stored_generation const& what);

/// Writes the manifest to all places of the generation and returns its paths. Throws skel::error unless more
/// than half of them take it.
std::vector<std::string> write_manifest(inventory const& here, stored_generation const& of);

}  // namespace skel::storage
