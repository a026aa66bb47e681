// How many pixels a task gets.
#pragma once

#include <cstdint>

#include "renderer.hpp"
#include "skel/context.hpp"
#include "skel/farm.hpp"

namespace skel::volume {

/// What a farm over sets of pixels costs.
struct farm_costs {
  double seconds_per_pixel = 0;  ///< of rendering
  double seconds_per_task = 0;   ///< of dealing one out and collecting what comes back
};

/// The task size with the least cost. With tasks of p pixels W workers need
///     T(p) = (N pixel + N / p task) / W + p pixel / 2,
/// their even share of N pixels and of the messages, and half a task that the others wait for the last:
/// least at p = sqrt(2 N task / (W pixel)). In whole tiles; at least four tasks a worker. The paper found the
/// same compromise by hand: 250 pixels (section 5.1).
[[nodiscard]] int best_task_size(std::uint64_t pixels, int workers, farm_costs const& costs);

/// Collective: measured now, with this schedule: a few tiles all over the picture on the root, and two farms
/// of tasks without work, of which the larger says what a task more costs. Takes some milliseconds. The same
/// on every rank.
[[nodiscard]] farm_costs measure_costs(context& ctx, renderer const& picture, any_schedule const& schedule,
                                       farm_options const& options);

}  // namespace skel::volume
