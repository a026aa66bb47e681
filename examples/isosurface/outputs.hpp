// The program's outputs beside its report: the mesh, a picture of it, the model, the costs.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "model_surfaces.hpp"
#include "picture_scene.hpp"

namespace isosurface {

struct output_options {
  std::string preview, preview_size = "512x512", model, trace_costs;
  picture_view view;
};

void add_output_options(CLI::App& app, output_options& o);
/// usage_error for names and sizes that cannot be meant.
void check_outputs(output_options& o, std::string const& mesh_path);
/// Collective: the picture is rendered by all ranks. On the root files are written; `mesh_path` is empty or
/// ends in .ply, .obj or .vtp. Errors: those of writing, and of reading the volume again.
void write_outputs(skel::context& ctx, output_options const& o, std::string const& mesh_path,
                   modeled const& all, open_function const& open, surface_options const& options);

}  // namespace isosurface
