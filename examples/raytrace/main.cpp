// skel-raytrace: Whitted ray tracing of NFF scenes as a farm over rows or tiles [Lee97].
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "image.hpp"
#include "nff.hpp"
#include "picture_size.hpp"
#include "pixels.hpp"
#include "preview.hpp"
#include "program/run_program.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"
#include "spd.hpp"

namespace {

using namespace raytrace;
using picture::check_image_name;
using picture::image;

// --from, --at, --up and --angle, which replace the scene's own.
struct eye_options {
  std::vector<double> from, at, up;
  std::optional<double> angle;
};

struct options {
  std::string file;
  std::string spd;
  std::string size;
  int depth = 5;
  double brightness = 2;
  std::string view = "balanced";
  eye_options eye;
  std::string accelerator = "bvh";
  std::string unit = "rows";
  std::string preview;
  std::string write_scene;
  bool costs = false;
  std::string unit_costs;
};

void add_options(CLI::App& app, options& o) {
  using namespace skel::program;
  app.add_option("SCENE", o.file, "scene to render, in the Neutral File Format (.nff)");
  option(app, "--scene NAME", o.spd,
         "scene of the Standard Procedural Databases: balls[:4], gears[:4][,ks=0.2], tetra[:6]");
  option(app, "--size WxH", o.size, "size of the picture in pixels, WIDTHxHEIGHT [the scene's]");
  option(app, "--depth", o.depth, "generations of rays including the primary ones", shown_default,
         CLI::Range(1, 64));
  option(app, "--brightness", o.brightness,
         "factor of lights without a colour: 1 is SPD's rule sqrt(L)/(2L), 2 matches SPD's published "
         "pictures",
         shown_default, CLI::Range(0.0, 1e6));
  option(app, "--view", o.view,
         "balanced: the scene's own view; biased: objects crowd one side of the picture", shown_default,
         CLI::IsMember({"balanced", "biased"}));
  option(app, "--from X,Y,Z", o.eye.from, "eye point [the scene's]", comma_list)->expected(3);
  option(app, "--at X,Y,Z", o.eye.at, "target point [the scene's]", comma_list)->expected(3);
  option(app, "--up X,Y,Z", o.eye.up, "upward direction [the scene's]", comma_list)->expected(3);
  option(app, "--angle", o.eye.angle, "angle of view in degrees [the scene's]", CLI::Range(0.001, 179.0));
  option(app, "--accelerator", o.accelerator,
         "bvh, slabs (Kay and Kajiya) or brute; all give the same picture to the bit", shown_default,
         CLI::IsMember({"bvh", "slabs", "brute"}));
  option(app, "--unit rows|tiles:N", o.unit, "unit of work: rows, or tiles of N x N pixels", shown_default);
  option(app, "--preview FILE", o.preview, "picture file, rewritten as results arrive (.png, .ppm, .pfm)");
  option(app, "--write-scene FILE.nff", o.write_scene, "also write the scene as an NFF file");
  option(app, "--unit-costs FILE", o.unit_costs,
         "write the seconds of each unit, one per line, for skel-simulate");
  app.add_flag("--costs", o.costs, "time every pixel and print mean and variance of pixel and row costs");
  skel::program::rarely_used(
      app, {"--brightness", "--from", "--at", "--up", "--angle", "--write-scene", "--unit-costs", "--costs"});
}

vec3d to_vector(std::vector<double> const& v) { return {v[0], v[1], v[2]}; }

scene load_scene(options const& o) {
  if (o.file.empty() == o.spd.empty())
    throw skel::usage_error("expected one scene: a file SCENE.nff, or --scene balls, gears or tetra");
  scene world = o.spd.empty() ? read_nff(o.file) : make_spd(o.spd);
  if (o.view == "biased") world.view = biased(world.view);
  if (!o.eye.from.empty()) world.view.from = to_vector(o.eye.from);
  if (!o.eye.at.empty()) world.view.at = to_vector(o.eye.at);
  if (!o.eye.up.empty()) world.view.up = to_vector(o.eye.up);
  if (o.eye.angle) world.view.angle = *o.eye.angle;
  if (auto const bad = problem_of(world.view); !bad.empty())
    throw skel::usage_error("--from, --at, --up: " + bad);
  return world;
}

void save_scene(std::string const& path, scene const& world) {
  std::ostringstream text;
  write_nff(text, world, 17);
  skel::write_file_atomically(path, text.str());
}

/// Running mean and variance (Welford).
class statistics {
 public:
  void add(double x) {
    ++n_;
    double const d = x - mean_;
    mean_ += d / static_cast<double>(n_);
    squares_ += d * (x - mean_);
  }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double variance() const { return n_ > 1 ? squares_ / static_cast<double>(n_ - 1) : 0; }

 private:
  std::uint64_t n_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// The results that the root collects.
struct collected {
  image picture;
  ray_counts rays;
  statistics unit_cost, pixel_cost;  // seconds
  std::vector<double> unit_seconds;
};

// Renders pixels spread over the picture again, by testing every ray against every shape. Returns their
// number.
std::int64_t verify(scene const& world, settings how, image const& picture) {
  how.accelerator = accelerator::brute;
  renderer const slow(world, how);
  constexpr std::int64_t samples = 997;  // a prime, so that the samples cover all columns
  std::int64_t const all = std::int64_t{how.width} * how.height;
  for (std::int64_t k = 0; k < std::min(samples, all); ++k) {
    std::int64_t const i = all <= samples ? k : k * all / samples;
    int const x = static_cast<int>(i % how.width);
    int const y = static_cast<int>(i / how.width);
    std::array<float, 3> rgb{};
    ray_counts rays;
    slow.render_tile(x, y, x + 1, y + 1, rgb, rays);
    auto const at = static_cast<std::size_t>(i) * 3;
    if (!std::equal(rgb.begin(), rgb.end(), picture.rgb.begin() + static_cast<std::ptrdiff_t>(at)))
      throw skel::error(fmt::format(
          "verification failed: pixel ({}, {}) differs from the result without accelerator", x, y));
  }
  return std::min(samples, all);
}

/// A text of everything that the picture and its costs depend on, for checkpoints: the scene
/// itself, not its name.
std::string problem_text(scene const& world, std::string const& size, options const& o) {
  std::ostringstream text;
  write_nff(text, world, 17);
  text << '\n' << size << ' ' << o.depth << ' ' << o.brightness << ' ' << o.unit << ' ' << o.costs;
  return text.str();
}

skel::program::run_outcome render_scene(skel::context& ctx, skel::program::common_options const& common,
                                        options const& o) {
  scene const world = load_scene(o);
  auto const size = o.size.empty() ? fmt::format("{}x{}", world.view.width, world.view.height) : o.size;
  settings how;
  auto const [width, height] = picture::parse_size(size, "--size");
  how.width = width;
  how.height = height;
  how.depth = o.depth;
  how.brightness = o.brightness;
  how.accelerator = accelerator_named(o.accelerator);
  for (auto const& path : {common.output, o.preview})
    if (!path.empty()) check_image_name(path, width, height);
  auto const units = cut_picture(o.unit, how.width, how.height);
  if (ctx.is_root() && !o.write_scene.empty()) save_scene(o.write_scene, world);
  renderer const picture(world, how);

  collected all;
  if (ctx.is_root()) {
    all.picture = image(how.width, how.height);
    all.unit_seconds.resize(units.size());
  }
  raytrace::preview preview(ctx.is_root() ? o.preview : "", [&](skel::atomic_file& file) {
    file.write(encode_image(o.preview, all.picture));
  });
  auto farm = common.farm();
  farm.label = "render";
  if (common.saves()) farm.checkpoint = common.checkpoint("skel-raytrace", problem_text(world, size, o));
  auto const run = skel::farm(
                       ctx, skel::replicated(units),
                       [&](rectangle const& r) { return render(picture, r, o.costs); }, common.schedule(),
                       [&](skel::task_id id, pixels&& p) {
                         paste(all.picture, units[id], p);
                         all.rays += p.rays;
                         all.unit_cost.add(p.seconds);
                         all.unit_seconds[id] = p.seconds;
                         for (float const s : p.pixel_seconds) all.pixel_cost.add(s);
                         preview.update();
                       },
                       farm)
                       .report;
  if (!ctx.is_root()) return {run, {}, {}, {}};

  for (auto const& f : run.failed_tasks) mark(all.picture, units[f.task]);
  preview.finish();
  if (!common.output.empty() && !run.stopped_early) write_image(common.output, all.picture);
  if (!o.unit_costs.empty() && skel::program::is_whole(run))
    skel::program::write_costs(o.unit_costs, all.unit_seconds);
  skel::program::run_outcome outcome;
  if (common.verify && !run.stopped_early)
    outcome.verified = fmt::format("{} pixels, without accelerator", verify(world, how, all.picture));
  if (common.output.empty() && o.preview.empty() && !common.quiet && !run.stopped_early)
    fmt::print("no picture written; -o FILE.png writes one\n");
  if (o.costs && !common.quiet)
    fmt::print(
        "cost of a pixel: mean {:.3g} s, variance {:.3g} s2; of a unit ({}): mean {:.3g} s, variance {:.3g} "
        "s2\n",
        all.pixel_cost.mean(), all.pixel_cost.variance(), o.unit, all.unit_cost.mean(),
        all.unit_cost.variance());
  outcome.run = run;
  outcome.result_xxh3 = skel::xxh3_hex(std::as_bytes(std::span(all.picture.rgb)));
  outcome.fields = {{"width", how.width},
                    {"height", how.height},
                    {"shapes", static_cast<std::uint64_t>(picture.shapes())},
                    {"rays", skel::observe::report_object{{"primary", all.rays.primary},
                                                          {"primary_hits", all.rays.primary_hits},
                                                          {"shadow", all.rays.shadow},
                                                          {"reflected", all.rays.reflected},
                                                          {"refracted", all.rays.refracted}}},
                    {"unit_seconds_mean", all.unit_cost.mean()},
                    {"unit_seconds_variance", all.unit_cost.variance()}};
  if (o.costs) {
    outcome.fields.push_back({"pixel_seconds_mean", all.pixel_cost.mean()});
    outcome.fields.push_back({"pixel_seconds_variance", all.pixel_cost.variance()});
  }
  outcome.problem = {
      {"scene", o.spd.empty() ? o.file : o.spd}, {"size", size}, {"view", o.view}, {"unit", o.unit}};
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  return skel::program::run_program(argc, argv,
                                    {.name = "skel-raytrace",
                                     .description = "Renders scenes of the Neutral File Format on all ranks.",
                                     .checkpoints = true,
                                     .inputs = {"SCENE"},
                                     .outputs = {"--preview", "--write-scene", "--unit-costs"},
                                     .formats = ".png, .ppm, .pfm or .exr"},
                                    add_options, render_scene);
}
