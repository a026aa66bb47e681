// The memory that this process may still use.
#pragma once

#include <cstdint>
#include <string>

namespace skel::detail {

/// Returns the bytes that the machine has left, or the process's control group if that is less. At least 64
/// MiB; 1 GiB if neither is known. At most a second old.
[[nodiscard]] std::uint64_t available_memory();
/// Returns the bytes that the machine has, or that the process's control group may use if that is less. 1 GiB
/// if neither is known.
[[nodiscard]] std::uint64_t memory_of_host();
/// Returns the bytes that this process may have as one of `ranks_here` processes that share the host: its
/// part of memory_of_host(), and no more than RLIMIT_AS and RLIMIT_DATA permit.
[[nodiscard]] std::uint64_t memory_of_rank(int ranks_here);
/// Returns e.g. "1.5 GiB".
[[nodiscard]] std::string text_of_bytes(std::uint64_t bytes);

}  // namespace skel::detail
