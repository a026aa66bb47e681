// What a run asks before it resumes from a store.
#pragma once

#include <vector>

#include "storage/catalogue.hpp"

namespace skel::storage {

/// See repository::check_at_start() and unused().
void check_at_start(inventory const& here);
[[nodiscard]] bool is_unused(inventory const& here);

/// Throws usage_error unless this writer, or one beside it, on this kind of machine wrote all generations.
void refuse_others(repository_options const& mine, std::vector<stored_generation> const& all);
/// Throws usage_error for a part that another kind of machine wrote, or that is encrypted and should not be.
void check_usable(repository_options const& mine, stored_object const& part);
/// Throws usage_error unless the key is that of the first part that can be read.
void check_key(inventory const& here, std::vector<stored_generation> const& all);

}  // namespace skel::storage
