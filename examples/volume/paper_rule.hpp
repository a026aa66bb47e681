// The integration of [Storm95, §2.3] (Upson and Keeler's V-buffer): the composite trapezoid rule in
// each cell on the ray.
#pragma once

#include "renderer.hpp"

namespace volume {

/// The number of steps in a cell doubles until opacity and colour of the cell change by less than
/// the specification's tolerance (at most 1,024): it "depends on the complexity of the integrands"
/// [Storm95, §4.1].
[[nodiscard]] rgba trapezoid_along(prepared_volume const& volume, specification const& spec,
                                   camera::ray const& ray, double least, work_counts& counts);

/// Uses a fixed number of steps per cell, for tests of the order.
[[nodiscard]] rgba trapezoid_along(prepared_volume const& volume, specification const& spec,
                                   camera::ray const& ray, double least, int steps, work_counts& counts);

}  // namespace volume
