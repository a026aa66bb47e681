// Decides which of several cells makes a vertex that they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layer.hpp"

namespace isosurface {

/// A position in a cell along each axis: -1 on the low side, 0 inside, 1 on the high side.
using place_in_cell = std::array<int, 3>;

enum class first_user : std::uint8_t {
  this_cell,
  this_piece,  ///< an earlier cell of the same piece
  other_piece
};

/// Returns the first cell that uses a position, by layer, row and x; holes do not count.
[[nodiscard]] first_user find_first_user(layer_view const& layer, range rows, std::size_t row, std::size_t x,
                                         place_in_cell const& place, std::array<std::size_t, 2> const& cells);

}  // namespace isosurface
