// What lies behind the volume: a colour, a picture, or a map on the ground; and a frame round the grid.
#pragma once

#include "camera.hpp"
#include "image.hpp"
#include "specification.hpp"

namespace skel::volume {

/// The picture that the image object is put in front of. `sides`: of the stretched grid. Not for kind::none.
/// usage_error for a file that is no PNG.
[[nodiscard]] picture::image make_background(specification const& spec, camera const& view, vec3 const& sides);

/// usage_error if the specification names a picture that cannot be read.
void check_background(specification const& spec);

}  // namespace skel::volume
