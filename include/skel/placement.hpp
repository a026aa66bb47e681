// Which ranks hold the problem of a divide_and_conquer call at the start, and its solution at the
// end.
#pragma once

#include <cstdint>

namespace skel::division {

/// Which ranks hold a problem or a solution.
enum class placement : std::uint8_t {
  everywhere,  ///< every rank has the whole
  on_root,     ///< the root has the whole
  in_parts     ///< each rank has its part
};

}  // namespace skel::division
