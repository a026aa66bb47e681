// What a rank keeps over the attempts of a program.
#pragma once

#include "opened_stores.hpp"
#include "storage/memory_files.hpp"

namespace skel::detail {

struct kept_disks {
  opened_stores opened;
  storage::memory_files memory;  ///< this rank's part of a store in memory
};

}  // namespace skel::detail
