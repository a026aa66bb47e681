// skel-isosurface: isosurfaces of volumes, by groups of ranks [Bajaj93].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "array_file.hpp"
#include "field.hpp"
#include "fingerprint.hpp"
#include "mesh_parts.hpp"
#include "model_surfaces.hpp"
#include "outputs.hpp"
#include "program/run_program.hpp"
#include "skel/skel.hpp"
#include "tolerance.hpp"
#include "verify.hpp"

namespace {

using namespace isosurface;

struct options {
  std::string file, field, differences = "2", group_size = "auto";
  volume_data::volume_choice choice;
  bool list = false;
  surface_options surface;
  std::optional<int> level;
  std::optional<double> tolerance;
  skel::multi_host_options how;
  output_options outputs;
  bool no_reassign = false;
  bool no_split = false;
};

void add_surface_options(CLI::App& app, options& o) {
  using namespace skel::program;
  auto& s = o.surface;
  option(app, "--iso", s.values, "values of the surfaces: V,V,...", comma_list);
  option(app, "--order", s.order, "1: linear between nodes; 3: smooth tricubic cells", shown_default,
         CLI::IsMember({1, 3}));
  option(app, "--grid", s.step, "samples per node in x and y; 3 gives the 4 x 4 pixels per cell of [Bajaj93]",
         shown_default, CLI::Range(1, 1024));
  option(app, "--differences", o.differences, "order of the differences: 2 or 4; paper: 2, and 1 at the ends",
         shown_default, CLI::IsMember({"2", "4", "paper"}));
  option(app, "--level", o.level, "order 3: number of halvings of cells along each axis",
         CLI::Range(0, most_level))
      ->default_str(std::to_string(s.level));
  app.add_option("--tolerance", o.tolerance,
                 "order 3: as few triangles as stay about this close to the surface; reads the volume twice")
      ->excludes("--level");
}

void add_options(CLI::App& app, options& o) {
  using namespace skel::program;
  app.add_option(
      "VOLUME", o.file,
      "volume: .vti, .vtr, .nc, .h5, .nrrd, .nhdr, .mha, .mhd, .raw or its sidecar .json, a stack of "
      "slices; float64 is stored as float32");
  app.add_option("--field", o.field,
                 "computed volume: wind, homogeneous, linear, marschner-lobb, metaballs, turbulence, sphere; "
                 "each also as NAME:AxBxC");
  app.add_option("--variable,--array", o.choice.variable,
                 "variable of a .nc or .h5, array of the points of a .vti or .vtr");
  option(app, "--time", o.choice.time, "index of the time of a file that has several", shown_default,
         CLI::Range(0, std::numeric_limits<int>::max()));
  app.add_flag("--list", o.list, "print the variables of VOLUME and their sizes, compute nothing");
  add_surface_options(app, o);
  option(app, "--group-size", o.group_size, "ranks per group, or auto: determined from the first layers",
         shown_default);
  app.add_flag("--no-reassign", o.no_reassign, "ranks of finished groups do not help other groups");
  app.add_flag("--no-split", o.no_split,
               "ranks of finished groups help, but do not take over unstarted layers");
  app.add_flag("--preload", o.how.measures.preload, "read the first slices before the clock starts");
  add_output_options(app, o.outputs);
  skel::program::rarely_used(app, {"--no-reassign", "--no-split", "--preload", "--trace-costs"});
}

void check(options& o) {
  if (o.file.empty() == o.field.empty())
    throw skel::usage_error("expected one volume: a file VOLUME, or --field NAME");
  if (!o.field.empty() && (!o.choice.variable.empty() || o.choice.time > 0))
    throw skel::usage_error("--variable, --time: expected a file VOLUME, found --field");
  auto& values = o.surface.values;
  if (values.empty()) throw skel::usage_error("--iso: expected the values of the surfaces");
  if (std::ranges::any_of(values, [](double v) { return !std::isfinite(v); }))
    throw skel::usage_error("--iso: expected finite numbers");
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  if (values.size() > most_values)
    throw skel::usage_error(fmt::format("--iso: {} values, expected at most {}", values.size(), most_values));
  if (o.surface.order != 3 && (o.level || o.tolerance))
    throw skel::usage_error("--level, --tolerance: expected --order 3, found 1");
  o.surface.tolerance = o.tolerance.value_or(0);
  if (o.tolerance && !(std::isfinite(*o.tolerance) && *o.tolerance > 0))
    throw skel::usage_error("--tolerance: expected a positive number");
  o.surface.level = o.level.value_or(o.surface.level);
  o.surface.rule = difference_rule_named(o.differences);
  o.how.measures.reassign = !o.no_reassign;
  o.how.measures.split_shares = !o.no_split;
  if (o.group_size == "auto") return;
  if (!CLI::detail::lexical_cast(o.group_size, o.how.group_size) || o.how.group_size == 0)
    throw skel::usage_error("--group-size: expected auto or a number of ranks, found \"" + o.group_size +
                            "\"");
}

void say(mesh_summary const& mesh) {
  fmt::print("{} triangles, {} vertices\n", mesh.triangles, mesh.vertices);
  if (mesh.counts.holes > 0) fmt::print("{} cells skipped: samples that are not finite\n", mesh.counts.holes);
  if (mesh.counts.unresolved > 0)
    fmt::print("{} places where a surface may be hidden; cells that are halved more often resolve more\n",
               mesh.counts.unresolved);
}

std::size_t cells_of(volume_data::volume_reader const& volume, surface_options const& o) {
  auto const& n = volume.header().size;
  auto const step = static_cast<std::size_t>(o.step);
  return (n[0] - 1) / step * ((n[1] - 1) / step) * (n[2] - 1);
}

/// Reads all values, which throws usage_error where they are damaged.
void read_through(volume_data::volume_reader& volume) {
  std::vector<std::byte> slice(volume.header().slice_bytes());
  while (volume.position() < volume.header().size[2]) volume.read(std::span(slice));
}

skel::program::run_outcome make_model(skel::context& ctx, skel::program::common_options const& common,
                                      options o) {
  check(o);
  check_outputs(o.outputs, common.output);
  if (common.verify && is_in_parts(common.output))
    throw skel::usage_error("--verify: expected a mesh in one file, found " + common.output);
  auto const open = [&] {
    return o.field.empty() ? volume_data::open_volume(o.file, o.choice) : volume_data::open_field(o.field);
  };
  if (ctx.size() > 1) {
    ctx.require_same("--preview", o.outputs.preview.empty() ? "" : "given");  // all ranks render it
    if (o.field.empty()) ctx.require_same("the content of VOLUME", volume_data::fingerprint(*open()));
  }
  skel::program::run_outcome outcome;
  auto const wanted = set_level(ctx, open, o.surface);
  outcome.run = wanted.run;
  if (outcome.run.stopped_early) return outcome;
  if (o.surface.tolerance > 0 && ctx.is_root() && !common.quiet) {
    fmt::print("cells are halved {} times{}\n", o.surface.level,
               wanted.level > most_level ? fmt::format("; the tolerance requires {}", wanted.level) : "");
    std::fflush(stdout);  // the mesh may take long
  }
  mesh_summary mesh;
  bool const in_parts = is_in_parts(common.output);
  if (in_parts) {
    auto const made = write_parts(ctx, open, o.surface, o.how, common.output);
    outcome.run = made.run;
    mesh = made.mesh;
    if (ctx.is_root() && !made.run.stopped_early) write_volume_outputs(o.outputs, open, o.surface);
  } else {
    auto const all = model_surfaces(ctx, open, o.surface, o.how);
    outcome.run = all.run;
    if (!all.run.stopped_early) {
      if (common.verify && ctx.is_root()) {
        verify(volume_data::read_grid(*open()), o.surface, all);
        outcome.verified = fmt::format("{} vertices and {} triangles, by the values at the grid points",
                                       all.surfaces.positions.size(), all.surfaces.triangles.size());
      }
      if (!write_outputs(ctx, o.outputs, common.output, all, open, o.surface))
        outcome.run.stopped_early = true;
    }
    mesh = {all.surfaces.positions.size(), all.surfaces.triangles.size(), all.counts,
            mesh_hash(all.surfaces)};
  }
  if (outcome.run.stopped_early || !ctx.is_root()) return outcome;
  outcome.result_xxh3 = mesh.xxh3;
  outcome.fields = {{"vertices", mesh.vertices},
                    {"triangles", mesh.triangles},
                    {"polygons", mesh.counts.polygons},
                    {"active_cells", mesh.counts.active},
                    {"holes", mesh.counts.holes},
                    {"unresolved", mesh.counts.unresolved},
                    {"level", o.surface.order == 3 ? o.surface.level : 0}};
  if (!in_parts) outcome.fields.push_back({"slices_read", mesh.counts.slices_read});
  if (!common.quiet) say(mesh);
  if (!common.quiet && common.output.empty() && o.outputs.preview.empty() && o.outputs.model.empty())
    fmt::print("no mesh written; -o FILE.ply writes one\n");
  if (mesh.triangles == 0) {
    bool const no_values = mesh.counts.holes > 0 && mesh.counts.holes == cells_of(*open(), o.surface);
    skel::program::complain(
        "skel-isosurface",
        no_values ? "every cell has a missing value: the mesh is empty"
                  : fmt::format("--iso {}: the mesh is empty, expected a value that the volume passes",
                                fmt::join(o.surface.values, ",")));
  }
  return outcome;
}

skel::program::run_outcome model(skel::context& ctx, skel::program::common_options const& common,
                                 options const& o) {
  if (o.list) {
    if (o.file.empty()) throw skel::usage_error("--list: expected a file VOLUME");
    if (ctx.is_root()) fmt::print("{}", volume_data::list_variables(o.file));
    return {};
  }
  try {
    return make_model(ctx, common, o);
  } catch (skel::task_error const&) {
    if (!o.file.empty()) read_through(*volume_data::open_volume(o.file, o.choice));
    throw;  // the volume is not the reason
  }
}

}  // namespace

int main(int argc, char** argv) {
  int const code = skel::program::run_program(
      argc, argv,
      {.name = "skel-isosurface",
       .description = "Computes isosurfaces of volumes, with exact normals, on groups of ranks.",
       .options = skel::program::option_set::no_farm,
       .outputs = {"--preview", "--model", "--trace-costs"},
       .may_differ = {"VOLUME"},
       .formats = ".ply, .obj, .vtp or .pvtp"},
      add_options, model);
  volume_data::silence_hdf5();  // which complains at the end of the process about damaged files
  return code;
}
