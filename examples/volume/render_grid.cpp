#include "skel/applications/render_grid.hpp"

#include <fmt/format.h>

#include <optional>

#include "background.hpp"
#include "fingerprint.hpp"
#include "job.hpp"
#include "memory_volume.hpp"

namespace volume {

namespace {

/// The picture in front of an opaque background.
std::vector<float> in_front_of(picture::image const& background, picture::transparent_image const& front) {
  auto const whole = over(front, background);
  std::vector<float> rgba(front.rgba.size(), 1.0F);
  for (std::size_t p = 0; p < rgba.size() / 4; ++p)
    for (std::size_t c = 0; c < 3; ++c) rgba[4 * p + c] = whole.rgb[3 * p + c];
  return rgba;
}

}  // namespace

grid_picture render_grid(skel::context& ctx, volume_data::grid_values const& grid,
                         std::string_view specification, skel::any_schedule const& schedule,
                         skel::farm_options const& options) {
  auto const values = volume_data::open_values(grid);
  ctx.require_same(
      "render_grid: values and specification",
      fmt::format("{}\n{}", volume_data::fingerprint(*volume_data::open_values(grid)), specification));
  job what;
  what.spec = parse_specification(specification, "specification");
  prepared_volume const volume(volume_data::read_grid(*values), what.spec);
  std::optional<background> behind;
  if (ctx.is_root() && what.spec.background.what != background_spec::kind::none)
    behind.emplace(what.spec, volume.sides());
  constexpr int pixels_per_task = 1024;  // a millisecond or so, as most skel-volume runs choose
  what.pixels_per_task = pixels_per_task;
  grid_picture made;
  auto const keep = [&](int, camera const& view, picture::transparent_image const& picture) {
    made.width = picture.width;
    made.height = picture.height;
    made.rgba = behind ? in_front_of(behind->behind(view), picture) : picture.rgba;
  };
  made.run = render(ctx, volume, what, schedule, options, keep).run;
  return made;
}

}  // namespace volume
