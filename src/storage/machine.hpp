// Compares values of this_machine().
#pragma once

#include <cstdint>
#include <string>

namespace skel::storage {

/// What differs, e.g. "big-endian, 4-byte long" and "little-endian, 8-byte long".
struct machine_difference {
  std::string found, expected;
};
[[nodiscard]] machine_difference difference(std::uint64_t found, std::uint64_t expected);

}  // namespace skel::storage
