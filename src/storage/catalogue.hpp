// Generations from the shards that lie in directories (the paper's cluster data repository manager).
#pragma once

#include <vector>

#include "storage/shard_store.hpp"

namespace skel::storage {

/// All generations of what scan() has found, the newest first; of the same number committed ones first.
/// Shards of what stands alone are left out.
[[nodiscard]] std::vector<stored_generation> generations_of(std::vector<stored_object> const& objects,
                                                            shard_store const& store,
                                                            report_problem const& report);

}  // namespace skel::storage
