#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "field.hpp"
#include "picture_size.hpp"
#include "skel/error.hpp"

namespace volume {

void add_options(CLI::App& app, options& o) {
  app.add_option("FIELD", o.file,
                 "volume to render: .vti, .vtr, .nrrd, .nhdr, .mha, .mhd, .raw or its sidecar .json");
  app.add_option("--field", o.field,
                 "or one by formula: wind, homogeneous, linear, marschner-lobb, metaballs, turbulence, "
                 "sphere; each also as NAME:AxBxC, and wind as NAME@HOURS");
  app.add_option("--series", o.series, "or several volumes, a picture of each");
  app.add_option("--steps", o.steps, "pictures of the field an hour apart, numbered as frames are")
      ->capture_default_str()
      ->check(CLI::Range(1, 240));
  app.add_option("--grid", o.grid,
                 "ranks that read: root, which broadcasts the grid, or all, if all see the file")
      ->capture_default_str()
      ->check(CLI::IsMember({"root", "all"}));
  app.add_option("--slabs", o.slabs, "number of slabs to cut the grid into, one in memory and one on its way")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--memory", o.memory,
                 "MiB of each rank for the grid, which is cut into as many slabs as necessary")
      ->check(CLI::Range(1, 1 << 30))
      ->excludes("--slabs");
  app.add_option("--spec", o.spec,
                 "rendering specification (.json): view, mapping, light, ...; see docs/volume.md");
  app.add_option("--size", o.size,
                 "size of the picture in pixels, WIDTHxHEIGHT, instead of the specification's");
  app.add_option("--background", o.background,
                 "a picture (.png) behind the volume, \"map\", \"none\", or #rrggbb");
  app.add_option("--frames", o.frames, "number of pictures of a turntable, numbered: storm-000.png, ...")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--pixels", o.pixels,
                 "pixels per task; default: found by the cost model from a few pixels and --machine")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--machine", o.machine,
                 "cost of messages, measured by skel-model calibrate, for the size of tasks; default: "
                 "20 us and 1 GB/s")
      ->type_name("FILE.json");
  app.add_option("--decomposition", o.decomposition,
                 "scattered: a task has pixels from all over the picture; blocks: from one place")
      ->capture_default_str()
      ->check(CLI::IsMember({"scattered", "blocks"}));
  app.add_option("--unit-costs", o.unit_costs,
                 "write the processor seconds of each task to FILE, for skel-simulate");
  app.add_flag("--ray-statistics", o.ray_statistics,
               "time each ray alone, and print the times of rays that hit and that miss the grid");
  app.add_option("--instructions", o.instructions,
                 "avx512, avx512-gather, avx2 or portable, instead of the best this processor has")
      ->check(CLI::IsMember({"avx512", "avx512-gather", "avx2", "portable"}));
}

specification options::rendering() const {
  bool const storm = field == "wind" || field.starts_with("wind:") || field.starts_with("wind@");
  specification to = !spec.empty() ? read_specification(spec)
                     : storm       ? parse_specification(storm_specification(), "storm.json")
                                   : specification{};
  if (!size.empty()) {
    auto const [width, height] = picture::parse_size(size, "--size");
    to.width = width;
    to.height = height;
  }
  if (!background.empty()) to.background = background_named(background, "--background");
  return to;
}

std::vector<std::string> options::names() const {
  if ((file.empty() ? 0 : 1) + (field.empty() ? 0 : 1) + (series.empty() ? 0 : 1) != 1)
    throw skel::usage_error("expected one volume: a file FIELD, --field NAME, or --series FILE ...");
  if (!series.empty() && frames > 1) throw skel::usage_error("--series and --frames exclude each other");
  if (steps > 1 && frames > 1) throw skel::usage_error("--steps and --frames exclude each other");
  if (steps > 1 && field.empty()) throw skel::usage_error("--steps needs a --field that changes with time");
  if (steps > 1 && field.find('@') != std::string::npos)
    throw skel::usage_error("--steps begins at hour 0: leave @HOURS out of --field");
  if (!series.empty()) return series;
  if (steps == 1) return {field.empty() ? file : field};
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(steps));
  for (int hour = 0; hour < steps; ++hour) all.push_back(fmt::format("{}@{}", field, hour));
  return all;
}

std::vector<opener> options::volumes() const {
  auto const all_names = names();
  std::vector<opener> all;
  all.reserve(all_names.size());
  for (auto const& name : all_names)
    all.emplace_back([name, computed = !field.empty()] {
      return computed ? volume_data::open_field(name) : volume_data::open_volume(name);
    });
  return all;
}

skel::model::machine options::messages() const {
  return machine.empty() ? skel::model::machine::assumed() : skel::model::machine::read(machine);
}

}  // namespace volume
