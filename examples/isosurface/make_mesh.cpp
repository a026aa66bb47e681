#include "skel/applications/make_mesh.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fingerprint.hpp"
#include "memory_volume.hpp"
#include "model_surfaces.hpp"
#include "skel/error.hpp"
#include "tolerance.hpp"

namespace isosurface {

surface make_mesh(skel::context& ctx, volume_data::grid_values const& grid, double value,
                  mesh_settings const& settings, skel::multi_host_options const& how) {
  ctx.require_same("make_mesh: values and settings",
                   fmt::format("{} {} {} {} {}", volume_data::fingerprint(*volume_data::open_values(grid)),
                               value, settings.smooth, settings.level, settings.tolerance));
  if (!std::isfinite(value)) throw skel::usage_error("make_mesh: expected a finite value");
  if (settings.level < 0 || settings.level > most_level)
    throw skel::usage_error("make_mesh: expected a level from 0 to " + std::to_string(most_level));
  if (!(settings.tolerance >= 0 && std::isfinite(settings.tolerance)) ||
      (settings.tolerance > 0 && !settings.smooth))
    throw skel::usage_error("make_mesh: expected a tolerance of 0, or with smooth a positive one");
  surface_options options;
  options.values = {value};
  options.order = settings.smooth ? 3 : 1;
  options.level = settings.level;
  options.tolerance = settings.tolerance;
  auto const open = [&] { return volume_data::open_values(grid); };
  surface made;
  made.run = set_level(ctx, open, options).run;
  if (made.run.stopped_early) return made;
  auto all = model_surfaces(ctx, open, options, how);
  made.positions = std::move(all.surfaces.positions);
  made.normals = std::move(all.surfaces.normals);
  made.triangles = std::move(all.surfaces.triangles);
  made.holes = all.counts.holes;
  made.run = std::move(all.run);
  return made;
}

}  // namespace isosurface
