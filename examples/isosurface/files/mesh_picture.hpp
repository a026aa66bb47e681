// A picture of a mesh, rendered on all ranks by the ray tracer: a preview.
#pragma once

#include "image.hpp"
#include "picture_scene.hpp"
#include "skel/context.hpp"

namespace isosurface {

/// Collective. The root's mesh (elsewhere: an empty one) as a picture, on the root; elsewhere none. A farm
/// with a task for each compute thread: every n-th row, and the mesh with it. The same pixels for any number
/// of ranks. Needs, on each rank, some 500 bytes per triangle for the time it takes.
[[nodiscard]] picture::image mesh_picture(skel::context& ctx, mesh const& surfaces, picture_view const& view);

}  // namespace isosurface
