// Renders grids that exceed a rank's memory, slab by slab.
#pragma once

#include "job.hpp"
#include "loading.hpp"

namespace volume {

/// Collective. Each slab is a farm over the rays that pass through it, front to back. Rays are sent
/// with their gain, so they end exactly where they would in the whole grid, and the pictures have
/// the same bytes [Storm95, §6.3: without full replication, and without the occluded parts]. The
/// next slab is transferred while the current one is rendered. The farm refuses schedules that deal
/// tasks out in advance, because the set of remaining rays determines the tasks. Throws usage_error
/// for the trapezoid rule and for ray statistics.
[[nodiscard]] job_result render_in_slabs(skel::context& ctx, opener const& open, grid_source from,
                                         surveyed_grid const& grid, job const& what,
                                         skel::any_schedule const& schedule,
                                         skel::farm_options const& options, picture_sink const& done);

}  // namespace volume
