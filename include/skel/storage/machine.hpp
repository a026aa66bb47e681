// How a program represents the values that it stores.
#pragma once

#include <cstdint>

namespace skel::storage {

/// Byte order, sizes, alignment and kinds of numbers, and the version of Boost's archives if this
/// program uses them. Never 0. Stored in the header of each shard.
[[nodiscard]] std::uint64_t this_machine() noexcept;

/// Records that this program stores values in archives of this version, which another version may not
/// read. Returns it.
unsigned note_archives(unsigned version) noexcept;

}  // namespace skel::storage
