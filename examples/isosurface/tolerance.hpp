// Determines how finely cells are divided.
#pragma once

#include "job.hpp"
#include "skel/context.hpp"

namespace isosurface {

inline constexpr int most_level = 6;

/// Estimates how far the triangles of undivided cells may be from the surface, in the volume's
/// coordinates. For a cell that a value may pass through, it is the greatest second derivative
/// (from differences of coefficients) over 8 times the gradient in the middle, or the cell's
/// diagonal if that is less. Returns the maximum over these cells. Each level reduces it by a
/// factor of four.
[[nodiscard]] double deviation(node_grid const& grid, surface_options const& options,
                               layer_view const& layer);

/// Returns the level from which on triangles stay within the tolerance of the surface; may exceed
/// most_level. Collective: ranks read parts of the volume (a divide_and_conquer over its layers),
/// and all receive the result.
[[nodiscard]] int level_for(skel::context& ctx, open_function const& open, surface_options const& options,
                            double tolerance);

/// Sets options.level for options.tolerance, at most most_level, if a tolerance is given for
/// order 3. Returns the level that is wanted, which may exceed it. Collective, like level_for().
int set_level(skel::context& ctx, open_function const& open, surface_options& options);

}  // namespace isosurface
