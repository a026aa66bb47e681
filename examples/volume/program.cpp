#include "program.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>

#include "background.hpp"
#include "job.hpp"
#include "ray_statistics.hpp"
#include "skel/observe/hash.hpp"
#include "task_size.hpp"
#include "verify.hpp"

namespace skel::volume {

namespace {

using picture::transparent_image;

/// storm.png: storm-007.png where there are several.
std::string numbered(std::string const& path, int number, std::size_t of) {
  if (of == 1 || path.empty()) return path;
  std::filesystem::path p(path);
  auto const name = fmt::format("{}-{:03}{}", p.stem().string(), number, p.extension().string());
  return p.replace_filename(name).string();
}

void add(report& total, report const& next) {
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
  if (next.steals) total.steals = total.steals.value_or(0) + *next.steals;
  total.per_rank = next.per_rank;  // of the last picture
}

struct totals {
  report run;
  work_counts counts;
  std::vector<ray_time> rays;
  std::vector<std::string> hashes;
  double waited_seconds = 0, loading_seconds = 0;  // for grids; the root's
};

/// A job's volumes, one after the other.
class program_run {
 public:
  program_run(context& ctx, program::common_options const& common, options const& o)
      : ctx_(ctx), common_(common), names_(o.names()) {
    what_.spec = o.rendering();
    what_.frames = o.frames;
    what_.pixels_per_task = o.pixels;
    what_.decomposition = task_cutter::named(o.decomposition);
    what_.time_rays = o.ray_statistics;
    what_.instructions = o.instructions;
    if (!common.output.empty()) picture::check_image_name(common.output);
    pictures_ = names_.size() * static_cast<std::size_t>(o.frames);
  }

  void render(options const& o) {
    volume_feed feed(ctx_, what_.spec, o.volumes(), o.source());
    for (int number = 0; number < static_cast<int>(names_.size()) && !all_.run.stopped_early; ++number) {
      auto const volume = feed.next();
      if (!volume) {
        all_.run.stopped_early = true;
        break;
      }
      render_volume(*volume, number);
    }
    all_.waited_seconds = feed.waited_seconds();
    all_.loading_seconds = feed.loading_seconds();
  }

  [[nodiscard]] program::run_outcome outcome() const;

 private:
  void render_volume(loaded_volume const& volume, int number);
  void save(std::string const& path, background const* behind, camera const& view,
            transparent_image const& picture) const {
    if (path.empty()) return;
    if (behind != nullptr)
      picture::write_image(path, over(picture, behind->behind(view)));
    else
      picture::write_image(path, picture);
  }

  context& ctx_;
  program::common_options const& common_;
  std::vector<std::string> names_;
  job what_;
  std::size_t pictures_;
  totals all_;
};

void program_run::render_volume(loaded_volume const& volume, int number) {
  std::optional<background> scenery;  // of whoever writes pictures; before hours of rendering, as it may fail
  if (ctx_.is_root() && what_.spec.background.what != background_spec::kind::none)
    scenery.emplace(what_.spec, volume.prepared.sides());
  farm_options farm;
  farm.results = common_.results();
  farm.root = common_.root_works ? root_role::works : root_role::serves;
  if (names_.size() > 1) farm.label = fmt::format("picture {} of {}", number + 1, pictures_);
  if (what_.pixels_per_task == 0)
    what_.pixels_per_task = find_task_size(ctx_, volume.prepared, what_, common_.schedule(), farm);

  std::optional<std::pair<camera, transparent_image>> first;
  auto part = volume::render(ctx_, volume.prepared, what_, common_.schedule(), farm,
                             [&](int frame, camera const& view, transparent_image const& picture) {
                               save(numbered(common_.output, number + frame, pictures_),
                                    scenery ? &*scenery : nullptr, view, picture);
                               if (common_.verify && frame == 0) first.emplace(view, picture);
                             });
  if (first && !part.run.stopped_early)
    verify(volume.grid, volume.prepared, what_.spec, first->first, first->second);
  add(all_.run, part.run);
  all_.counts.cells += part.counts.cells;
  all_.counts.segments += part.counts.segments;
  all_.rays.insert(all_.rays.end(), part.rays.begin(), part.rays.end());
  all_.hashes.insert(all_.hashes.end(), part.hashes.begin(), part.hashes.end());
}

/// Of one picture its own hash, of several that of their hashes.
std::string result_hash(std::vector<std::string> const& hashes) {
  if (hashes.size() == 1) return hashes[0];
  observe::xxh3_hasher hasher;
  for (auto const& h : hashes) hasher.update(std::as_bytes(std::span(h)));
  return hasher.hex();
}

program::run_outcome program_run::outcome() const {
  if (!ctx_.is_root()) return {all_.run, {}, {}, {}};
  program::run_outcome outcome;
  outcome.run = all_.run;
  if (!all_.run.stopped_early) outcome.result_xxh3 = result_hash(all_.hashes);
  outcome.fields = {{"width", what_.spec.width},
                    {"height", what_.spec.height},
                    {"pictures", pictures_},
                    {"pixels_per_task", what_.pixels_per_task},
                    {"loading_seconds", all_.loading_seconds},
                    {"waiting_for_grids_seconds", all_.waited_seconds},
                    {"cells", all_.counts.cells},
                    {"segments", all_.counts.segments}};
  outcome.problem = {{"field", names_[0]},
                     {"pixels", std::to_string(static_cast<std::size_t>(what_.spec.width) *
                                               static_cast<std::size_t>(what_.spec.height) * pictures_)},
                     {"pixels_per_task", std::to_string(what_.pixels_per_task)}};
  if (what_.time_rays) {
    auto const hitting = summarize(all_.rays, true), missing = summarize(all_.rays, false);
    if (!common_.quiet) fmt::print("{}", table(hitting, missing));
    outcome.fields.push_back({"rays_hitting", fields(hitting)});
    outcome.fields.push_back({"rays_missing", fields(missing)});
  }
  return outcome;
}

}  // namespace

program::run_outcome render_all(context& ctx, program::common_options const& common, options const& o) {
  program_run run(ctx, common, o);
  run.render(o);
  return run.outcome();
}

}  // namespace skel::volume
