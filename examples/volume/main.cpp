// skel-volume: volume rendering of rectilinear grids as a farm over sets of pixels (Asplin and Johansen,
// "Performance experiments with the StormView distributed parallel volume renderer").
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "background.hpp"
#include "field.hpp"
#include "job.hpp"
#include "program/run_program.hpp"
#include "ray_statistics.hpp"
#include "skel/observe/hash.hpp"
#include "skel/skel.hpp"
#include "verify.hpp"

namespace {

using namespace skel::volume;
using skel::picture::transparent_image;

struct options {
  std::string file, field, spec, size, background;
  std::vector<std::string> series;
  int frames = 1;
  int pixels = 250;
  std::string decomposition = "scattered";
  std::string instructions;
  bool ray_statistics = false;
};

void add_options(CLI::App& app, options& o) {
  app.add_option("FIELD", o.file,
                 "volume to render: .vti, .vtr, .nrrd, .nhdr, .mha, .mhd, .raw or its sidecar .json");
  app.add_option("--field", o.field,
                 "or one by formula: wind, homogeneous, linear, marschner-lobb, metaballs, turbulence, "
                 "sphere; each also "
                 "as NAME:AxBxC");
  app.add_option("--series", o.series, "or several volumes, a picture of each");
  app.add_option("--spec", o.spec,
                 "rendering specification (.json): view, mapping, light, ...; see docs/volume.md");
  app.add_option("--size", o.size,
                 "size of the picture in pixels, WIDTHxHEIGHT, instead of the specification's");
  app.add_option("--background", o.background,
                 "a picture (.png) behind the volume, \"map\", \"none\", or #rrggbb");
  app.add_option("--frames", o.frames, "a turntable of so many pictures, numbered: storm-000.png, ...")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--pixels", o.pixels, "pixels of a task")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000000));
  app.add_option("--decomposition", o.decomposition,
                 "scattered: a task has pixels from all over the picture; blocks: from one place")
      ->capture_default_str()
      ->check(CLI::IsMember({"scattered", "blocks"}));
  app.add_flag("--ray-statistics", o.ray_statistics,
               "time each ray alone, and print what rays that hit and that miss the grid take");
  app.add_option("--instructions", o.instructions, "avx2 or portable, instead of the best this processor has")
      ->check(CLI::IsMember({"avx2", "portable"}));
}

void parse_size(std::string const& text, specification& spec) {
  constexpr int most = 65536;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &spec.width, &spec.height, &rest) != 2 || spec.width < 1 ||
      spec.height < 1 || spec.width > most || spec.height > most)
    throw skel::usage_error("--size: expected WIDTHxHEIGHT, each 1 to 65536, got \"" + text + "\"");
}

background_spec parse_background(std::string const& text) {
  using kind = background_spec::kind;
  if (text.ends_with(".png")) return {kind::image, {}, text};
  return parse_specification("{\"background\": \"" + text + "\"}", "--background").background;
}

specification load_specification(options const& o) {
  bool const storm = o.field == "wind" || o.field.starts_with("wind:");
  specification spec = !o.spec.empty() ? read_specification(o.spec)
                       : storm         ? parse_specification(storm_specification(), "storm.json")
                                       : specification{};
  if (!o.size.empty()) parse_size(o.size, spec);
  if (!o.background.empty()) spec.background = parse_background(o.background);
  return spec;
}

std::vector<std::string> volumes_of(options const& o) {
  if ((o.file.empty() ? 0 : 1) + (o.field.empty() ? 0 : 1) + (o.series.empty() ? 0 : 1) != 1)
    throw skel::usage_error("expected one volume: a file FIELD, --field NAME, or --series FILE ...");
  if (!o.series.empty() && o.frames > 1) throw skel::usage_error("--series and --frames exclude each other");
  if (!o.series.empty()) return o.series;
  return {o.field.empty() ? o.file : o.field};
}

/// storm.png: storm-007.png where there are several.
std::string numbered(std::string const& path, int number, std::size_t of) {
  if (of == 1 || path.empty()) return path;
  std::filesystem::path p(path);
  auto const name = fmt::format("{}-{:03}{}", p.stem().string(), number, p.extension().string());
  return p.replace_filename(name).string();
}

void add(skel::report& total, skel::report const& next) {
  if (total.ranks == 0) {
    total = next;
    return;
  }
  double const busy = total.busy_share * total.seconds + next.busy_share * next.seconds;
  total.tasks += next.tasks;
  total.seconds += next.seconds;
  total.busy_share = total.seconds > 0 ? busy / total.seconds : 0;
  total.stopped_early = total.stopped_early || next.stopped_early;
  total.messages += next.messages;
  total.bytes += next.bytes;
  total.tasks_handed_out_again += next.tasks_handed_out_again;
  total.lost_ranks = next.lost_ranks;
  total.checkpoint = next.checkpoint;
  if (next.steals) total.steals = total.steals.value_or(0) + *next.steals;
  total.per_rank = next.per_rank;  // of the last picture
}

struct totals {
  skel::report run;
  work_counts counts;
  std::vector<ray_time> rays;
  std::vector<std::string> hashes;
  double read_seconds = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// All that the pictures depend on, for checkpoints: the values themselves, not where they came from.
std::string problem_text(skel::volume_data::grid const& grid, options const& o) {
  skel::observe::xxh3_hasher hasher;
  hasher.update(grid.values);
  for (auto const& axis : grid.header.coordinates) hasher.update(std::as_bytes(std::span(axis)));
  auto text = fmt::format("{} {} {}x{}x{}", hasher.hex(), name_of(grid.header.type), grid.header.size[0],
                          grid.header.size[1], grid.header.size[2]);
  if (!o.spec.empty()) {
    std::ifstream file(o.spec, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text + fmt::format(" {} {} {} {} {} {}", o.field, o.size, o.frames, o.pixels, o.decomposition,
                            o.ray_statistics);
}

void render_volume(skel::context& ctx, skel::program::common_options const& common, options const& o,
                   job const& what, std::string const& name, int number, std::size_t pictures, totals& all) {
  // Every rank reads the file: there is no broadcast among the skeletons, and a file system has caches for
  // this.
  auto const start = std::chrono::steady_clock::now();
  auto const opened =
      o.field.empty() ? skel::volume_data::open_volume(name) : skel::volume_data::open_field(name);
  auto const grid = skel::volume_data::read_grid(*opened);
  prepared_volume const volume(grid, what.spec);
  all.read_seconds += seconds_since(start);

  std::optional<background> scenery;  // of whoever writes pictures; before hours of rendering, as it may fail
  if (ctx.is_root() && what.spec.background.what != background_spec::kind::none)
    scenery.emplace(what.spec, volume.sides());
  auto const save = [&](std::string const& path, camera const& view, transparent_image const& picture) {
    if (path.empty()) return;
    if (scenery)
      skel::picture::write_image(path, over(picture, scenery->behind(view)));
    else
      skel::picture::write_image(path, picture);
  };
  std::optional<std::pair<camera, transparent_image>> first;
  skel::farm_options farm;
  farm.results = common.results();
  farm.root = common.root_works ? skel::root_role::works : skel::root_role::serves;
  if (!common.checkpoint_code.empty())
    farm.checkpoint = common.checkpoint("skel-volume", problem_text(grid, o));
  if (pictures > 1 && what.frames == 1) farm.label = fmt::format("picture {} of {}", number + 1, pictures);
  auto part = render(ctx, volume, what, common.schedule(), farm,
                     [&](int frame, camera const& view, transparent_image const& picture) {
                       save(numbered(common.output, number + frame, pictures), view, picture);
                       if (common.verify && frame == 0) first.emplace(view, picture);
                     });
  if (first && !part.run.stopped_early) verify(grid, volume, what.spec, first->first, first->second);
  add(all.run, part.run);
  all.counts.cells += part.counts.cells;
  all.counts.segments += part.counts.segments;
  all.rays.insert(all.rays.end(), part.rays.begin(), part.rays.end());
  all.hashes.insert(all.hashes.end(), part.hashes.begin(), part.hashes.end());
}

/// Of one picture its own hash, of several that of their hashes.
std::string result_hash(std::vector<std::string> const& hashes) {
  if (hashes.size() == 1) return hashes[0];
  skel::observe::xxh3_hasher hasher;
  for (auto const& h : hashes) hasher.update(std::as_bytes(std::span(h)));
  return hasher.hex();
}

skel::program::run_outcome render_all(skel::context& ctx, skel::program::common_options const& common,
                                      options const& o) {
  auto const names = volumes_of(o);
  job what;
  what.spec = load_specification(o);
  what.frames = o.frames;
  what.pixels_per_task = o.pixels;
  what.decomposition = task_cutter::named(o.decomposition);
  what.time_rays = o.ray_statistics;
  what.instructions = o.instructions;
  if (!common.output.empty()) skel::picture::check_image_name(common.output);
  if (names.size() > 1 && !common.checkpoint_code.empty())
    throw skel::usage_error("--checkpoint and --series exclude each other: a store holds one run");
  auto const pictures = names.size() * static_cast<std::size_t>(o.frames);

  totals all;
  int number = 0;
  for (auto const& name : names) {
    render_volume(ctx, common, o, what, name, number++, pictures, all);
    if (all.run.stopped_early) break;
  }
  if (!ctx.is_root()) return {all.run, {}, {}, {}};

  skel::program::run_outcome outcome;
  outcome.run = all.run;
  if (!all.run.stopped_early) outcome.result_xxh3 = result_hash(all.hashes);
  outcome.fields = {{"width", what.spec.width},  {"height", what.spec.height},
                    {"pictures", pictures},      {"read_seconds", all.read_seconds},
                    {"cells", all.counts.cells}, {"segments", all.counts.segments}};
  outcome.problem = {{"field", names[0]},
                     {"pixels", std::to_string(static_cast<std::size_t>(what.spec.width) *
                                               static_cast<std::size_t>(what.spec.height) * pictures)},
                     {"pixels_per_task", std::to_string(o.pixels)}};
  if (o.ray_statistics) {
    auto const hitting = summarize(all.rays, true), missing = summarize(all.rays, false);
    if (!common.quiet) fmt::print("{}", table(hitting, missing));
    outcome.fields.push_back({"rays_hitting", fields(hitting)});
    outcome.fields.push_back({"rays_missing", fields(missing)});
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return skel::program::run_program(
      argc, argv,
      {"skel-volume", "Renders rectilinear grids of scalars on all ranks.", skel::program::option_set::farm,
       true},
      [&](CLI::App& app) { add_options(app, o); },
      [&](skel::context& ctx, skel::program::common_options const& common) {
        return render_all(ctx, common, o);
      });
}
