// --verify: compares pixels spread over a picture with brute_force.
#pragma once

#include "grid.hpp"
#include "image.hpp"
#include "renderer.hpp"

namespace volume {

/// The permitted difference of a pixel from the integral: one of 255 steps, plus the light behind
/// the visibility limit. With light it is two steps, because within an opaque part of a cell the
/// gradient may turn more than its four or more samples show.
[[nodiscard]] double allowed_error(specification const& spec);

/// Returns the number of pixels compared. Throws program::verification_error
/// `verification failed: pixel (x, y): ...`.
std::uint64_t verify(volume_data::grid const& grid, prepared_volume const& volume, specification const& spec,
                     camera const& view, picture::transparent_image const& picture);

}  // namespace volume
