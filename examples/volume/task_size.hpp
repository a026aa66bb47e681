// Determines the number of pixels per task.
#pragma once

#include <cstdint>

#include "renderer.hpp"
#include "skel/model/task_size.hpp"

namespace volume {

/// Measures the seconds to render a pixel, on a few tiles spread over the picture, for about 5 ms.
[[nodiscard]] double pixel_seconds(renderer const& picture);

/// Returns the size of least cost in the model (model::best_task_units), in whole tiles. `where`
/// holds the cost of messages; nullptr: all workers are threads of this process.
[[nodiscard]] int best_task_size(std::uint64_t pixels, double seconds_per_pixel, int workers,
                                 skel::model::machine_at const* where);

}  // namespace volume
