// A preview: a picture of a mesh, ray traced on all ranks.
#pragma once

#include <optional>

#include "image.hpp"
#include "picture_scene.hpp"
#include "skel/context.hpp"

namespace isosurface {

/// Collective. Renders the root's mesh (other ranks pass an empty one) and returns the picture, which
/// is empty except on the root; nothing on all ranks if the run was stopped early. A farm with one task per
/// compute thread: every n-th row, sent with the mesh. The pixels do not depend on the number of ranks. Needs
/// some 500 bytes per triangle on each rank during the call.
[[nodiscard]] std::optional<picture::image> mesh_picture(skel::context& ctx, mesh const& surfaces,
                                                         picture_view const& view);

}  // namespace isosurface
