// How finely cells are divided.
#pragma once

#include "job.hpp"
#include "skel/context.hpp"

namespace isosurface {

inline constexpr int most_level = 6;

/// An estimate of how far the triangles of undivided cells may be from the surface, in the volume's
/// coordinates: of all cells that a value may pass through, the greatest second derivatives (by the
/// coefficients' differences) over 8 times the gradient in the middle, or the cell's diagonal if that is
/// less. Each level makes it four times smaller.
[[nodiscard]] double deviation(node_grid const& grid, surface_options const& options,
                               layer_view const& layer);

/// The level from which triangles stay within the tolerance of the surface; may be above most_level.
/// Collective: ranks read parts of the volume (a divide_and_conquer over its layers), and all have the
/// answer.
[[nodiscard]] int level_for(skel::context& ctx, open_function const& open, surface_options const& options,
                            double tolerance);

}  // namespace isosurface
