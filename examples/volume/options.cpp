#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>

#include "field.hpp"
#include "picture_size.hpp"
#include "program/help.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace volume {

namespace {

int slabs_of(std::string const& text) {
  constexpr int most = 1000000;
  if (text == "ranks") return part_options::slab_for_each_rank;
  auto const n = skel::program::to_number<int>(text).value_or(0);
  if (n < 1 || n > most)
    throw skel::usage_error(fmt::format("--slabs: expected 1 to {} or \"ranks\", found \"{}\"", most, text));
  return n;
}

}  // namespace

void add_options(CLI::App& app, options& o) {
  using namespace skel::program;
  app.add_option(
      "FIELD", o.file,
      "volume to render: .vti, .vtr, .nc, .nc4, .cdf, .h5, .hdf5, .he5, .hdf, .vtkhdf, .nrrd, .nhdr, "
      ".mha, .mhd, .raw or its sidecar .json; or a folder of .png");
  app.add_option("--field", o.field,
                 "computed volume: wind, homogeneous, linear, marschner-lobb, metaballs, turbulence, "
                 "sphere; each also as NAME:AxBxC, and wind as NAME@HOURS");
  app.add_option("--variable,--array", o.choice.variable,
                 "variable of a .nc or .h5, array of the points of a .vti or .vtr");
  option(app, "--time", o.choice.time, "index of the time of a file that has several", shown_default,
         CLI::Range(0, std::numeric_limits<int>::max()));
  app.add_flag("--list", o.list, "print the variables of FIELD and their sizes, render nothing");
  app.add_option("--series", o.series, "several volumes, rendered to one picture each");
  option(app, "--steps", o.steps,
         "number of pictures, numbered like frames: of a computed field an hour apart, of a file its "
         "times from --time on",
         shown_default, CLI::Range(1, 100000));
  option(app, "--grid", o.parts.read_by,
         "ranks that read the volume: root (broadcasts it) or all (all must reach the file)", shown_default,
         CLI::IsMember({"root", "all"}));
  app.add_option_function<std::string>(
         "--slabs", [&o](std::string const& n) { o.parts.slabs = slabs_of(n); },
         "number of slabs of the grid; a rank holds one while it receives the next. ranks: each rank keeps "
         "one, and the rays travel")
      ->type_name("N|ranks");
  option(app, "--memory", o.parts.memory,
         "MiB per rank for the grid, which is cut into as many slabs as necessary", CLI::Range(1, 1 << 30))
      ->excludes("--slabs");
  app.add_option("--spec", o.spec,
                 "rendering specification (.json): view, mapping, light, ...; see docs/reference/volume.md");
  app.add_option("--size", o.size, "size of the picture in pixels, WIDTHxHEIGHT [the specification's]");
  app.add_option("--background", o.background, "background: a picture (.png), \"map\", \"none\" or #rrggbb");
  option(app, "--frames", o.frames, "number of pictures of a turntable, numbered: storm-000.png, ...",
         shown_default, CLI::Range(1, 100000));
  option(app, "--pixels", o.tasks.pixels,
         "pixels per task [determined by the cost model from a few pixels and --machine]",
         CLI::Range(1, 100000000));
  option(app, "--machine FILE.json", o.tasks.machine,
         "cost of messages, measured by skel-model calibrate, for the size of tasks ["
         "20 us and 1 GB/s]");
  option(app, "--decomposition", o.tasks.decomposition,
         "pixels of a task: scattered over the picture, or contiguous blocks", shown_default,
         CLI::IsMember({"scattered", "blocks"}));
  app.add_flag(
         "--session{-}", o.session,
         "render what commands on standard input, or in a FILE, ask for: a key of the specification and "
         "its value, such as view {\"azimuth\": 30}; size, background, frames, field, variable, time as the "
         "options; spec FILE, file FILE; render FILE; quit")
      ->type_name("[=FILE]");
  app.add_option("--unit-costs", o.tasks.unit_costs,
                 "write the processor seconds of each task, for skel-simulate");
  app.add_flag("--ray-statistics", o.tasks.ray_statistics,
               "time each ray separately, and print statistics of rays that hit and miss the grid");
  option(app, "--instructions", o.instructions,
         "instruction set: avx512, avx512-gather, avx2 or portable [the best available]",
         CLI::IsMember({"avx512", "avx512-gather", "avx2", "portable"}));
  skel::program::rarely_used(app, {"--grid", "--slabs", "--pixels", "--machine", "--decomposition",
                                   "--unit-costs", "--ray-statistics", "--instructions"});
}

std::string options::default_specification() const {
  bool const storm = field == "wind" || field.starts_with("wind:") || field.starts_with("wind@");
  return std::string(storm ? storm_specification() : "{}");
}

specification options::rendering() const {
  auto to =
      spec.empty() ? parse_specification(default_specification(), "storm.json") : read_specification(spec);
  if (!size.empty()) {
    auto const [width, height] = picture::parse_size(size, "--size");
    to.width = width;
    to.height = height;
  }
  if (!background.empty()) to.background = background_named(background, "--background");
  return to;
}

namespace {

void check(options const& o) {
  int const given = (o.file.empty() ? 0 : 1) + (o.field.empty() ? 0 : 1) + (o.series.empty() ? 0 : 1);
  if (given > 1 || (given == 0 && o.session.empty()))
    throw skel::usage_error("expected one volume: a file FIELD, --field NAME, or --series FILE ...");
  if (!o.series.empty() && o.frames > 1)
    throw skel::usage_error("--series and --frames: expected only one of them");
  if (o.steps > 1 && o.frames > 1) throw skel::usage_error("--steps and --frames: expected only one of them");
  if (o.steps > 1 && !o.series.empty())
    throw skel::usage_error("--steps and --series: expected only one of them");
  if (o.steps > 240 && !o.field.empty())
    throw skel::usage_error("--steps: expected at most 240 hours of a field");
  if (o.steps > 1 && o.field.find('@') != std::string::npos)
    throw skel::usage_error("--steps: found @HOURS in --field, expected none (steps begin at hour 0)");
  using given_option = std::pair<bool, char const*>;
  for (auto const& [is_given, name] :
       {given_option{!o.series.empty(), "--series"}, given_option{o.steps > 1, "--steps"},
        given_option{o.parts.slabs != 0, "--slabs"}, given_option{o.parts.memory > 0, "--memory"}})
    if (is_given && !o.session.empty())
      throw skel::usage_error(fmt::format("--session and {}: expected only one of them", name));
  if (!o.field.empty() && (!o.choice.variable.empty() || o.choice.time > 0))
    throw skel::usage_error("--variable, --time: expected a file FIELD, found --field");
}

}  // namespace

std::vector<options::volume> options::volumes() const {
  check(*this);
  std::vector<volume> all;
  auto const add_file = [&](std::string const& path, volume_data::volume_choice const& from) {
    all.push_back({volume_data::name_of(path, from), [=] { return volume_data::open_volume(path, from); }});
  };
  for (auto const& path : series) add_file(path, choice);
  for (int step = 0; step < steps && !file.empty(); ++step)
    add_file(file, {choice.variable, choice.time + static_cast<std::size_t>(step)});
  for (int hour = 0; hour < steps && !field.empty(); ++hour) {
    auto const name = steps == 1 ? field : fmt::format("{}@{}", field, hour);
    all.push_back({name, [=] { return volume_data::open_field(name); }});
  }
  return all;
}

skel::model::machine options::messages() const {
  return tasks.machine.empty() ? skel::model::machine::assumed() : skel::model::machine::read(tasks.machine);
}

}  // namespace volume
