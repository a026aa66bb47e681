#include "first_user.hpp"

namespace isosurface {

namespace {

/// The cell itself and its neighbour on the side of the place, in order.
range touching(std::size_t cell, int place, std::size_t cells) {
  return {place < 0 && cell > 0 ? cell - 1 : cell, place > 0 && cell + 1 < cells ? cell + 2 : cell + 1};
}

}  // namespace

first_user find_first_user(layer_view const& layer, range rows, std::size_t row, std::size_t x,
                           place_in_cell const& place, std::array<std::size_t, 2> const& cells) {
  auto const xs = touching(x, place[0], cells[0]), ys = touching(row, place[1], cells[1]);
  auto user = first_user::this_cell;
  for (auto z = touching(layer.number(), place[2], layer.number() + 1).first; z <= layer.number(); ++z)
    for (auto j = ys.first; j < ys.end; ++j)
      for (auto i = xs.first; i < xs.end; ++i) {
        if (z == layer.number() && j == row && i == x) return user;
        if (layer.is_hole(z, j, i)) continue;
        if (z == layer.number() && j >= rows.first) return first_user::this_piece;
        user = first_user::other_piece;
      }
  return user;
}

}  // namespace isosurface
