// Assembles generations from the shards in directories (the cluster data repository manager of
// [Camargo06]).
#pragma once

#include <vector>

#include "storage/shard_store.hpp"

namespace skel::storage {

/// Returns all generations among the objects that scan() found, the newest first. Among generations
/// with the same number, committed ones come first. Objects that belong to no generation are
/// ignored.
[[nodiscard]] std::vector<stored_generation> generations_of(std::vector<stored_object> const& objects,
                                                            shard_store const& store,
                                                            report_problem const& report);

}  // namespace skel::storage
