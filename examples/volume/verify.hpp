// --verify: pixels spread over a picture, against brute_force.
#pragma once

#include "grid.hpp"
#include "image.hpp"
#include "renderer.hpp"

namespace volume {

/// The largest difference of a pixel from the integral: one of 255 steps, and the light behind the
/// visibility limit; with light two steps, because it may turn more in an opaque part of a cell
/// than the four or more places show at which it is sampled.
[[nodiscard]] double allowed_error(specification const& spec);

/// program::verification_error `verification failed: pixel (x, y): ...`.
void verify(volume_data::grid const& grid, prepared_volume const& volume, specification const& spec,
            camera const& view, picture::transparent_image const& picture);

}  // namespace volume
