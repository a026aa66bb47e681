// skel::placement, which the role needs without the rest of skel/divide_and_conquer.hpp.
#pragma once

#include <cstdint>

namespace skel {

/// Where something is: on every rank, on the root only, or a part of it on each rank. Of a
/// divide_and_conquer call's problem at its beginning, and of its solution at its end.
enum class placement : std::uint8_t { everywhere, on_root, in_parts };

}  // namespace skel
