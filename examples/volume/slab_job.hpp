// Pictures of a grid that is too large for a rank's memory: slab by slab.
#pragma once

#include "job.hpp"
#include "loading.hpp"

namespace volume {

/// Collective. Each slab is a farm over the rays that pass through it, front to back. Rays travel
/// with their gain, so they end where they would in the whole grid, and the pictures have the same
/// bytes [Storm95, §6.3: without full replication, and without the parts that lie behind]. While a
/// slab is rendered the next one is transferred. The farm refuses schedules that deal tasks out
/// beforehand, because the rays that are left decide what there is to do. Throws usage_error for
/// the trapezoid rule and timed rays.
[[nodiscard]] job_result render_in_slabs(skel::context& ctx, opener const& open, grid_source from,
                                         surveyed_grid const& grid, job const& what,
                                         skel::any_schedule const& schedule,
                                         skel::farm_options const& options, picture_sink const& done);

}  // namespace volume
