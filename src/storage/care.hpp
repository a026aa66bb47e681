// What a run asks before it resumes from a store, and the maintenance of a store: removal of old generations,
// verification, repair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/catalogue.hpp"

namespace skel::storage {

/// See repository::check_at_start() and unused().
void check_at_start(inventory const& here);
[[nodiscard]] bool is_unused(inventory const& here);
/// Nothing if a run has committed one of these generations, or may have. Otherwise the first damage among
/// what saves that did not end have left, or an empty text. Such a save leaves whole parts, and hidden files
/// beside the shards of its last one. Commits put a manifest into more than half of the directories, so
/// whatever else is incomplete has been damaged.
[[nodiscard]] std::optional<std::string> damage_of_uncommitted(inventory const& here,
                                                               std::vector<stored_generation> const& all);

/// Throws usage_error unless this writer, or one beside it, on this kind of machine wrote all generations.
void refuse_others(repository_options const& mine, std::vector<stored_generation> const& all);
/// Throws usage_error for a part that another kind of machine wrote, or that is encrypted and should not be.
void check_usable(repository_options const& mine, stored_object const& part);
/// Throws usage_error unless the key is that of the first part that can be read.
void check_key(inventory const& here, std::vector<stored_generation> const& all);

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
