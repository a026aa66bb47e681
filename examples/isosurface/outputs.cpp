#include "outputs.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cost_trace.hpp"
#include "keep_model.hpp"
#include "mesh_files.hpp"
#include "mesh_picture.hpp"
#include "picture_size.hpp"
#include "ply.hpp"
#include "program/help.hpp"
#include "program/paths.hpp"
#include "program/text.hpp"

namespace isosurface {

namespace {

void write_mesh(std::string const& path, mesh const& surfaces) {
  auto const name = skel::program::lower(path);
  if (name.ends_with(".obj")) return write_obj(path, surfaces);
  if (name.ends_with(".vtp")) return write_vtp(path, surfaces);
  write_ply(path, surfaces);
}

}  // namespace

bool is_in_parts(std::string const& mesh_path) { return skel::program::lower(mesh_path).ends_with(".pvtp"); }

void add_output_options(CLI::App& app, output_options& o) {
  using namespace skel::program;
  app.add_option("--preview", o.preview,
                 "write a picture of the surfaces, rendered on all ranks (.png, .ppm, .pfm)");
  option(app, "--preview-size", o.preview_size, "size of the picture in pixels, WIDTHxHEIGHT", shown_default);
  option(app, "--preview-azimuth", o.view.azimuth, "viewing direction: degrees from x towards y",
         shown_default, CLI::Range(-360.0, 360.0));
  option(app, "--preview-elevation", o.view.elevation, "viewing direction: degrees above the xy plane",
         shown_default, CLI::Range(-90.0, 90.0));
  app.add_flag("!--preview-whole", o.view.cut_open, "do not cut away the octant next to the eye");
  app.add_option("--model", o.model, "write the piecewise polynomial model, for skel-isosurface-eval");
  app.add_option("--trace-costs", o.trace_costs,
                 "write the cost of each row of cells, for skel-simulate --layer-costs");
}

void check_outputs(output_options& o, std::string const& mesh_path) {
  if (!mesh_path.empty()) skel::program::require_ending(mesh_path, {".ply", ".obj", ".vtp", ".pvtp"});
  if (is_in_parts(mesh_path) && !o.preview.empty())
    throw skel::usage_error("--preview: expected a mesh in one file, found " + mesh_path);
  auto const folder = std::filesystem::path(mesh_path).replace_extension();
  if (is_in_parts(mesh_path) && std::filesystem::exists(folder) && !std::filesystem::is_directory(folder))
    throw skel::usage_error(mesh_path + ": its parts need a folder " + folder.string() + ", which is a file");
  auto const [width, height] = picture::parse_size(o.preview_size, "--preview-size");
  if (!o.preview.empty()) picture::check_image_name(o.preview, width, height);
  o.view.width = width;
  o.view.height = height;
}

void write_volume_outputs(output_options const& o, open_function const& open,
                          surface_options const& options) {
  if (!o.model.empty()) keep_model(o.model, open, options);
  if (!o.trace_costs.empty()) trace_costs(o.trace_costs, open, options);
}

bool write_outputs(skel::context& ctx, output_options const& o, std::string const& mesh_path,
                   modeled const& all, open_function const& open, surface_options const& options) {
  std::optional<picture::image> preview;
  if (!o.preview.empty()) preview = mesh_picture(ctx, all.surfaces, o.view);
  if (ctx.is_root()) {
    if (preview) write_image(o.preview, *preview);
    if (!mesh_path.empty()) write_mesh(mesh_path, all.surfaces);
    write_volume_outputs(o, open, options);
  }
  return o.preview.empty() || preview;
}

}  // namespace isosurface
