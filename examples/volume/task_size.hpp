// How many pixels a task gets.
#pragma once

#include <cstdint>

#include "renderer.hpp"
#include "skel/model/task_size.hpp"

namespace volume {

/// Seconds to render a pixel, measured here and now on a few tiles all over the picture, for about
/// 5 ms.
[[nodiscard]] double pixel_seconds(renderer const& picture);

/// The size with the least cost by the model (model::best_task_units), in whole tiles. `where` has what
/// messages cost; nullptr: all workers are threads of this process.
[[nodiscard]] int best_task_size(std::uint64_t pixels, double seconds_per_pixel, int workers,
                                 skel::model::machine_at const* where);

}  // namespace volume
