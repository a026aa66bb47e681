// Pictures of a grid that is too large for a rank's memory: slab by slab.
#pragma once

#include "job.hpp"
#include "loading.hpp"

namespace volume {

/// Collective. Each slab is a farm over the rays that come through it, front to back; rays travel with what
/// they have gained, so that they end where they would in the whole grid, and the pictures have its bytes
/// (StormView, section 6.3: without full replication, and without the parts that lie behind). While a slab is
/// rendered the next one travels. Schedules that deal tasks out beforehand are refused by the farm, as it is
/// the rays that are left that decide what there is to do. usage_error for the trapezoid rule and timed rays.
[[nodiscard]] job_result render_in_slabs(skel::context& ctx, opener const& open, grid_source from,
                                         surveyed_grid const& grid, job const& what,
                                         skel::any_schedule const& schedule,
                                         skel::farm_options const& options, picture_sink const& done);

}  // namespace volume
