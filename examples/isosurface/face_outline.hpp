// Simplifies the curves in which a surface meets the faces of a cell.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace isosurface {

using point2 = std::array<double, 2>;

/// Returns the points to keep for the fewest chords from the first to the last that are within the
/// tolerance of all points that they replace [Imai88]; of several such choices, one with the least
/// sum of squared distances. The kept points between the ends will be moved to the outside of the
/// curve, so a chord may be off by 4/3 of the tolerance if one of its ends is such a point, and by 2
/// if both are. With `bent`, at least one point between the ends is kept.
[[nodiscard]] std::vector<std::size_t> fewest_chords(std::span<point2 const> points, double tolerance,
                                                     bool bent);

}  // namespace isosurface
