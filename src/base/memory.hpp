// The memory that this process may still use.
#pragma once

#include <cstdint>

namespace skel::detail {

/// Returns the bytes that the machine has left, or the process's control group if that is less. At least 64
/// MiB; 1 GiB if neither is known.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace skel::detail
