// --verify: pixels spread over a picture, against brute_force.
#pragma once

#include "grid.hpp"
#include "image.hpp"
#include "renderer.hpp"

namespace volume {

/// What a pixel may differ by from the integral: one of 255 steps, and what lies behind the visibility limit;
/// with light two, as it may turn by more in an opaque part of a cell than the four places or more say at
/// which it is taken.
[[nodiscard]] double allowed_error(specification const& spec);

/// program::verification_error `verification failed: pixel (x, y): ...`.
void verify(volume_data::grid const& grid, prepared_volume const& volume, specification const& spec,
            camera const& view, picture::transparent_image const& picture);

}  // namespace volume
