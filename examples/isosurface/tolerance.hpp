// Determines how finely cells are divided.
#pragma once

#include "job.hpp"
#include "skel/context.hpp"
#include "skel/report.hpp"

namespace isosurface {

inline constexpr int most_level = 6;

/// Estimates how far the triangles of undivided cells may be from the surface, in the volume's
/// coordinates. For a cell that a value may pass through, it is the greatest second derivative
/// (from differences of coefficients) over 8 times the gradient in the middle, or the cell's
/// diagonal if that is less. Returns the maximum over these cells. Each level reduces it by a
/// factor of four.
[[nodiscard]] double deviation(node_grid const& grid, surface_options const& options,
                               layer_view const& layer);

struct wanted_level {
  int level = 0;
  skel::report run{};  ///< complete on the root; stopped_early on every rank
};

/// Returns the level from which on triangles stay within the tolerance of the surface; may exceed
/// most_level. Collective: ranks read parts of the volume (a divide_and_conquer over its layers),
/// and all receive the result. If the run is stopped early, no level is known.
[[nodiscard]] wanted_level level_for(skel::context& ctx, open_function const& open,
                                     surface_options const& options, double tolerance);

/// With a tolerance for order 3: sets options.level to the level that it needs, at most most_level,
/// and returns what level_for() found. Otherwise returns options.level at once. Collective.
[[nodiscard]] wanted_level set_level(skel::context& ctx, open_function const& open, surface_options& options);

}  // namespace isosurface
