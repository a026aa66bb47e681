// The integral once more, slowly and by other means: what --verify and the tests compare with. Shares the
// camera with the renderer, and nothing else: neither cells, nor pieces of the mapping, nor scaled values,
// nor the rule.
#pragma once

#include "camera.hpp"
#include "grid.hpp"
#include "mapping.hpp"
#include "renderer.hpp"

namespace volume {

/// Every plane that the ray crosses, sorted; between two of them the cell is found by bisection, and the
/// midpoint rule takes `steps` steps. Double precision, the mapping evaluated from its knots, no early end,
/// the whole grid. `knots`: mapping::knots(). Missing values make their cells clear.
[[nodiscard]] std::array<double, 4> brute_force(volume_data::grid const& grid, specification const& spec,
                                                mapping_spec const& knots, camera::ray const& ray,
                                                bool parallel, int steps);

}  // namespace volume
