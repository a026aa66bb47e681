// The program's outputs beside its report: mesh, picture, model, costs.
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

/// Whether a mesh of this name is written in parts, not in one file.
[[nodiscard]] bool is_in_parts(std::string const& mesh_path);

void add_output_options(CLI::App& app, output_options& o);
/// Throws usage_error for invalid names and sizes.
void check_outputs(output_options& o, std::string const& mesh_path);
/// On the root: the outputs that do not depend on the mesh.
void write_volume_outputs(output_options const& o, open_function const& open, surface_options const& options);
/// Collective, because all ranks render the picture. The root writes the files; `mesh_path` is
/// empty or ends in .ply, .obj or .vtp. Throws the errors of writing, and of reading the volume
/// again.
[[nodiscard]] bool write_outputs(skel::context& ctx, output_options const& o, std::string const& mesh_path,
                                 modeled const& all, open_function const& open,
                                 surface_options const& options);

}  // namespace isosurface
