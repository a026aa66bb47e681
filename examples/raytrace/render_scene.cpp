#include "skel/applications/render_scene.hpp"

#include <fmt/format.h>

#include <string>

#include "nff.hpp"
#include "pixels.hpp"
#include "skel/error.hpp"

namespace raytrace {

scene_picture render_scene(skel::context& ctx, std::string_view nff, picture_settings const& settings,
                           skel::any_schedule const& schedule, skel::farm_options const& options) {
  ctx.require_same("render_scene: scene and settings",
                   fmt::format("{} {} {} {}\n{}", settings.width, settings.height, settings.depth,
                               settings.brightness, nff));
  constexpr int most_depth = 64;  // rays recurse
  if (settings.depth < 1 || settings.depth > most_depth)
    throw skel::usage_error("render_scene: expected a depth from 1 to " + std::to_string(most_depth));
  if (!(settings.brightness >= 0 && settings.brightness <= 1e6))
    throw skel::usage_error("render_scene: expected a brightness from 0 to 1e6");
  raytrace::settings how;
  how.width = settings.width;
  how.height = settings.height;
  how.depth = settings.depth;
  how.brightness = settings.brightness;
  renderer const picture(parse_nff(nff, "scene"), how);
  auto const units = cut_picture("rows", how.width, how.height);
  scene_picture made;
  picture::image all;
  if (ctx.is_root()) all = picture::image(how.width, how.height);
  made.run = skel::farm(
                 ctx, skel::replicated(units), [&](rectangle const& r) { return render(picture, r, false); },
                 schedule, [&](skel::task_id id, pixels&& p) { paste(all, units[id], p); }, options)
                 .report;
  if (!ctx.is_root()) return made;
  for (auto const& f : made.run.failed_tasks) mark(all, units[f.task]);
  made.width = all.width;
  made.height = all.height;
  made.rgb = std::move(all.rgb);
  return made;
}

}  // namespace raytrace
