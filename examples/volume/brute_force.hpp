// Computes the integral slowly and by independent means, for --verify and the tests. Shares only
// the camera with the renderer: neither cells, nor pieces of the mapping, nor scaled values, nor
// the rule.
#pragma once

#include "camera.hpp"
#include "grid.hpp"
#include "mapping.hpp"
#include "renderer.hpp"

namespace volume {

/// Sorts all plane crossings of the ray, finds the cell between two of them by bisection, and
/// applies the midpoint rule with `steps` steps or more, between the places where the scalar passes
/// a knot: extinction may jump there. Uses double precision, the mapping's knots, no early
/// termination and the whole grid. `knots`: mapping::knots(). Cells with missing values are
/// transparent.
[[nodiscard]] std::array<double, 4> brute_force(volume_data::grid const& grid, specification const& spec,
                                                mapping_spec const& knots, camera::ray const& ray,
                                                bool parallel, int steps);

}  // namespace volume
