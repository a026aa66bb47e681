// Renders grids whose slabs stay on one rank each.
#pragma once

#include "job.hpp"
#include "loading.hpp"

namespace volume {

/// Collective. As render_in_slabs(), but each slab is sent to one rank only, once for all pictures, and
/// the rays travel from rank to rank (`bsp`): while a batch of rays is in the second slab, the next one
/// is in the first. When a rank is lost, the others share its slabs, and the picture at hand begins
/// again. Throws usage_error for the trapezoid rule and for ray statistics.
[[nodiscard]] job_result render_in_resident_slabs(skel::context& ctx, opener const& open, grid_source from,
                                                  surveyed_grid const& grid, job const& what,
                                                  picture_sink const& done);

}  // namespace volume
