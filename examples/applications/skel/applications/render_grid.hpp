// Volume rendering of values in memory on all ranks [Storm95], the library of skel-volume.
//
//     auto const picture = volume::render_grid(ctx, {values, {64, 64, 64}}, R"({"size": [300, 300]})");
//     if (ctx.is_root()) save(picture.rgba);
#pragma once

#include <string_view>
#include <vector>

#include "skel/applications/grid_values.hpp"
#include "skel/context.hpp"
#include "skel/farm.hpp"
#include "skel/report.hpp"

/// Volume rendering; link `skel::applications`.
namespace volume {

/// A picture, on the root.
struct grid_picture {
  int width = 0;   ///< in pixels
  int height = 0;  ///< in pixels
  /// Premultiplied linear red, green, blue, and opacity of each pixel, rows from the top. Opacity is 1
  /// everywhere unless the specification's background is "none".
  std::vector<float> rgba;
  skel::report run;  ///< complete on the root
};

/// Renders a picture of the values. `specification`: view, mapping to colour and opacity, light,
/// size and background as JSON (docs/reference/volume.md); "{}" has a default for each. Collective:
/// every rank passes the same values and specification. The same bytes on every number of ranks,
/// with every schedule, and if ranks are lost, on one type of processor. Pixels of
/// tasks that options.on_error left out are magenta. Throws the errors of skel::farm, and
/// usage_error if values and sizes do not fit, the specification is invalid, or ranks pass different
/// ones (of more than 64 MiB of values, slices are compared).
[[nodiscard]] grid_picture render_grid(skel::context& ctx, volume_data::grid_values const& grid,
                                       std::string_view specification = "{}",
                                       skel::any_schedule const& schedule = {},
                                       skel::farm_options const& options = {});

}  // namespace volume
