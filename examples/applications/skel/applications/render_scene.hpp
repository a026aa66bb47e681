// Whitted ray tracing of a scene on all ranks [Lee97], the library of skel-raytrace.
//
//     auto const picture = raytrace::render_scene(ctx, "v\nfrom 0 0 3\n...", {.width = 800});
//     if (ctx.is_root()) save(picture.rgb);
#pragma once

#include <string_view>
#include <vector>

#include "skel/context.hpp"
#include "skel/farm.hpp"
#include "skel/report.hpp"

/// Ray tracing; link `skel::applications`.
namespace raytrace {

/// Settings of render_scene(). The same on every rank.
struct picture_settings {
  int width = 512;        ///< in pixels, at least 1
  int height = 512;       ///< in pixels, at least 1
  int depth = 5;          ///< generations of rays including the primary ones, 1 to 64
  double brightness = 2;  ///< factor of lights without a colour: 1 is NFF's, 2 matches published pictures
};

/// A picture, on the root.
struct scene_picture {
  int width = 0;           ///< in pixels
  int height = 0;          ///< in pixels
  std::vector<float> rgb;  ///< linear red, green and blue of each pixel, rows from the top; 0 black, 1 white
  skel::report run;        ///< complete on the root
};

/// Renders a scene, a text in the Neutral File Format (Haines 1987). Collective: every rank passes
/// the same text. The same bytes on every number of ranks, with every schedule, and if ranks are
/// lost. Pixels of tasks that options.on_error left out are magenta. Throws the errors of
/// skel::farm, and usage_error `line: ...` for a text that is not a scene, settings out of range,
/// or ranks that pass different ones.
[[nodiscard]] scene_picture render_scene(skel::context& ctx, std::string_view nff,
                                         picture_settings const& settings = {},
                                         skel::any_schedule const& schedule = {},
                                         skel::farm_options const& options = {});

}  // namespace raytrace
