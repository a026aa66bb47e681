#include "program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

#include "background.hpp"
#include "job.hpp"
#include "loading.hpp"
#include "prefetch.hpp"
#include "ray_statistics.hpp"
#include "report_sum.hpp"
#include "resident_slabs.hpp"
#include "session_console.hpp"
#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "slab_job.hpp"
#include "stopwatch.hpp"
#include "verify.hpp"

namespace volume {

namespace {

using picture::transparent_image;

constexpr int pixels_of_the_paper = 250;  // [Storm95, §5.1]

/// Turns storm.png into storm-007.png if there are several pictures.
std::string numbered(std::string const& path, int number, std::size_t of) {
  if (of == 1 || path.empty()) return path;
  std::filesystem::path p(path);
  auto const name = fmt::format("{}-{:03}{}", p.stem().string(), number, p.extension().string());
  return p.replace_filename(name).string();
}

struct totals {
  skel::report run;
  work_counts counts;
  std::vector<ray_time> rays;
  std::vector<double> task_seconds;
  std::vector<std::string> hashes;
  std::size_t grid_memory = 0;
  double waited_seconds = 0, loading_seconds = 0;  // for grids, on the root

  void add(job_result const& part) {
    volume::add(run, part.run);
    counts.cells += part.counts.cells;
    counts.segments += part.counts.segments;
    rays.insert(rays.end(), part.rays.begin(), part.rays.end());
    task_seconds.insert(task_seconds.end(), part.task_seconds.begin(), part.task_seconds.end());
    hashes.insert(hashes.end(), part.hashes.begin(), part.hashes.end());
    grid_memory = std::max(grid_memory, part.grid_memory);
    waited_seconds += part.waited_seconds;
    loading_seconds += part.loading_seconds;
  }
};

/// Processes the volumes of a job one after the other.
class program_run {
 public:
  program_run(skel::context& ctx, skel::program::common_options const& common, options const& o)
      : ctx_(ctx), common_(common), options_(o), volumes_(o.volumes()) {
    what_.spec = o.rendering();
    what_.frames = o.frames;
    what_.pixels_per_task = o.tasks.pixels;
    what_.decomposition = task_cutter::named(o.tasks.decomposition);
    what_.time_rays = o.tasks.ray_statistics;
    what_.instructions = o.instructions;
    messages_ = o.messages();
    if (!common.output.empty())
      picture::check_image_name(common.output, what_.spec.width, what_.spec.height,
                                what_.spec.background.what == background_spec::kind::none);
    // If only the root reads, the other ranks can compare only names.
    std::string names;
    for (auto const& v : volumes_) names += v.name + '\n';
    ctx.require_same("FIELD or --series",
                     o.source() == grid_source::root ? names : std::to_string(volumes_.size()));
    if (in_slabs() && common.verify)
      throw skel::usage_error("--verify: requires the whole grid, expected no --slabs or --memory");
    if (in_slabs() &&
        (!o.tasks.unit_costs.empty() || what_.decomposition != task_cutter::decomposition::scattered))
      throw skel::usage_error(
          "--unit-costs and --decomposition: require the whole grid, expected no --slabs or --memory");
    if (in_slabs() && common.on_error().collects)
      throw skel::usage_error("--on-error collect: requires the whole grid, expected no --slabs or --memory");
    if (has_resident_slabs() &&
        (common.of_farm != skel::program::run_options::farm_values{} || o.tasks.pixels > 0))
      throw skel::usage_error(
          "--slabs ranks: not a farm, expected no --schedule, --results, --root, --on-error, --audit, "
          "--task-time-limit or --pixels");
    if (saves() && (in_slabs() || volumes_.size() > 1))
      throw skel::usage_error(
          "--checkpoint: requires a single farm, expected no --series, --slabs or --memory");
    if (in_session() && (saves() || !common.output.empty()))
      throw skel::usage_error("--session: expected no --checkpoint and no -o");
    if (!in_session()) count(volumes_.size() * static_cast<std::size_t>(o.frames));
    // A time that the file lacks is an error before the first picture.
    if (ctx.is_root() && o.steps > 1 && !o.file.empty()) check_last_time();
    if (!ctx.has_beside()) say_what_is_missing();
  }

  void render() {
    if (in_session())
      each_in_session();
    else if (in_slabs())
      each_in_slabs();
    else
      each_whole();
    if (ctx_.is_root() && !options_.tasks.unit_costs.empty() && skel::program::is_whole(all_.run))
      skel::program::write_costs(options_.tasks.unit_costs, all_.task_seconds);
  }

  [[nodiscard]] skel::program::run_outcome outcome() const;

 private:
  [[nodiscard]] bool in_session() const { return !options_.session.empty(); }
  [[nodiscard]] bool in_slabs() const { return options_.parts.slabs != 0 || options_.parts.memory > 0; }
  [[nodiscard]] bool has_resident_slabs() const {
    return options_.parts.slabs == part_options::slab_for_each_rank;
  }
  [[nodiscard]] bool finds_task_size() const { return options_.tasks.pixels == 0 && !in_slabs() && !saves(); }
  void count(std::size_t pictures) {
    counts_.pictures += pictures;
    counts_.pixels +=
        pictures * static_cast<std::size_t>(what_.spec.width) * static_cast<std::size_t>(what_.spec.height);
  }
  void check_last_time() const;
  void say_what_is_missing() const;
  void say_all_missing(std::string const& name);
  [[nodiscard]] int task_size(prepared_volume const& volume);
  void each_whole();
  void each_in_slabs();
  void render_whole(loaded_volume const& volume, int number);
  void each_in_session();
  std::string render_ordered(session_order const& order, std::string const& output);
  [[nodiscard]] bool saves() const { return common_.saves(); }
  [[nodiscard]] std::string problem_of(volume_data::grid const& grid) const;
  /// The background, on ranks that write pictures. Prepared before hours of rendering, because it
  /// may fail.
  [[nodiscard]] std::optional<background> scenery(vec3 const& sides) const {
    if (!ctx_.is_root() || what_.spec.background.what == background_spec::kind::none) return std::nullopt;
    return background(what_.spec, sides);
  }
  void save(std::string const& path, std::optional<background> const& behind, camera const& view,
            transparent_image const& picture) const {
    if (path.empty()) return;
    if (behind)
      picture::write_image(path, over(picture, behind->behind(view)));
    else
      picture::write_image(path, picture);
  }

  skel::context& ctx_;
  skel::program::common_options const& common_;
  options const& options_;
  std::vector<options::volume> volumes_;
  job what_;
  skel::model::machine messages_;
  struct {
    std::uint64_t verified = 0;  // pixels
    std::size_t pictures = 0, pixels = 0, slabs = 0, all_missing = 0, grids = 0;
  } counts_;
  totals all_;
  struct {
    std::unique_ptr<loaded_volume> volume;
    std::string name, version, prepared_for;
  } held_;  // in a session
  std::string failure_;
};

void program_run::check_last_time() const {
  volumes_.front().open();  // an error of --time itself
  try {
    volumes_.back().open();
  } catch (skel::usage_error const& bad) {
    throw skel::usage_error(fmt::format("--steps {}: {}", options_.steps, bad.what()));
  }
}

/// Below MPI_THREAD_SERIALIZED no calls run beside a farm, and messages wait for the end of a task,
/// so their cost in isolation is not representative.
void program_run::say_what_is_missing() const {
  std::string without;
  if (finds_task_size()) without = fmt::format("using tasks of {} pixels", pixels_of_the_paper);
  if (volumes_.size() > 1 || (in_slabs() && !has_resident_slabs()))
    without += fmt::format("{}loading each {} only when it is needed", without.empty() ? "" : ", and ",
                           in_slabs() ? "slab" : "grid");
  if (without.empty() || !ctx_.is_root() || common_.quiet) return;
  fmt::print(stderr, "skel-volume: MPI thread level below SERIALIZED: {}\n", without);
}

void program_run::say_all_missing(std::string const& name) {
  ++counts_.all_missing;
  if (ctx_.is_root())
    skel::program::complain("skel-volume", name + ": all values are missing: the picture shows nothing");
}

int program_run::task_size(prepared_volume const& volume) {
  // A later run must cut the same tasks, so a checkpointed run must not measure.
  if (saves() || !ctx_.has_beside()) return pixels_of_the_paper;
  std::string warning;
  auto const where = messages_.for_ranks(ctx_.size(), "raw", warning);
  if (!warning.empty() && ctx_.is_root() && !common_.quiet) fmt::print(stderr, "skel-volume: {}\n", warning);
  return find_task_size(ctx_, volume, what_, where).value_or(pixels_of_the_paper);
}

/// A text of everything that the pictures depend on, for checkpoints: the values themselves, not
/// their source.
std::string program_run::problem_of(volume_data::grid const& grid) const {
  skel::xxh3_hasher hasher;
  hasher.update(grid.values);
  for (auto const& axis : grid.header.coordinates) hasher.update(std::as_bytes(std::span(axis)));
  auto text = fmt::format("{} {} {}x{}x{}", hasher.hex(), name_of(grid.header.type), grid.header.size[0],
                          grid.header.size[1], grid.header.size[2]);
  if (!options_.spec.empty()) {
    std::ifstream file(options_.spec, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  // Tasks consist of tiles.
  return text + fmt::format(" {} {} {} {} {} {} {}x{}", volumes_[0].name, options_.size, options_.frames,
                            what_.pixels_per_task, options_.tasks.decomposition,
                            options_.tasks.ray_statistics, tile_width, tile_height);
}

void program_run::each_whole() {
  prefetch<loaded_volume> feed(ctx_, volumes_.size(), [&](skel::context& calls, std::size_t i) {
    return load_volume(calls, volumes_[i].open, options_.source(), what_.spec);
  });
  for (std::size_t i = 0; i < volumes_.size() && !all_.run.stopped_early; ++i) {
    auto const volume = feed.next();
    if (volume)
      render_whole(*volume, static_cast<int>(i));
    else
      all_.run.stopped_early = true;
  }
  all_.waited_seconds = feed.waited_seconds();
  all_.loading_seconds = feed.loading_seconds();
}

void program_run::render_whole(loaded_volume const& volume, int number) {
  if (!volume.prepared.has_values()) say_all_missing(volume.grid.header.name);
  auto const behind = scenery(volume.prepared.sides());
  auto how = common_.farm();
  if (volumes_.size() > 1) how.label = fmt::format("picture {} of {}", number + 1, counts_.pictures);
  if (what_.pixels_per_task == 0) what_.pixels_per_task = task_size(volume.prepared);
  if (saves()) how.checkpoint = common_.checkpoint("skel-volume", problem_of(volume.grid));
  std::optional<std::pair<camera, transparent_image>> first;
  auto const part = volume::render(ctx_, volume.prepared, what_, common_.schedule(), how,
                                   [&](int frame, camera const& view, transparent_image const& picture) {
                                     save(numbered(common_.output, number + frame, counts_.pictures), behind,
                                          view, picture);
                                     if (common_.verify && frame == 0) first.emplace(view, picture);
                                   });
  if (first && !part.run.stopped_early)
    counts_.verified += verify(volume.grid, volume.prepared, what_.spec, first->first, first->second);
  all_.add(part);
}

/// The root reads commands, the others wait for its orders.
void program_run::each_in_session() {
  if (options_.session == "-" && ctx_.attempt() > 1)
    throw skel::error(
        "--session: the rank that read the commands from standard input is lost, expected --session=FILE");
  std::optional<session_console> console;
  if (ctx_.is_root()) console.emplace(options_);
  auto const next = [&] { return console->next([&] { return ctx_.stop_requested(); }); };
  std::optional<skel::context> beside;  // without progress and trace
  if (ctx_.has_beside()) beside.emplace(ctx_.beside());
  auto& orders = beside ? *beside : ctx_;
  while (!all_.run.stopped_early) {
    auto const order = skel::broadcast(orders, skel::on_root(next), "session").value;
    all_.run.stopped_early = !order || ctx_.stop_requested();
    if (!order || order->ends) break;
    std::string problem;
    try {
      problem = render_ordered(*order, console ? console->output() : "");
    } catch (skel::usage_error const& bad) {  // on every rank: the volume cannot be read
      problem = bad.what();
    } catch (skel::task_error const& bad) {  // likewise
      problem = bad.what();
    }
    if (console && !problem.empty()) console->failed(problem);
  }
  if (console) failure_ = console->failure();
}

/// Returns on the root what failed there.
std::string program_run::render_ordered(session_order const& order, std::string const& output) {
  what_.spec = parse_specification(order.specification, "specification");
  what_.frames = order.frames;
  auto source = options_;
  source.file = order.file;
  source.field = order.field;
  source.choice = {order.variable, static_cast<std::size_t>(order.time)};
  auto const volume = source.volumes().front();
  auto const needs = preparation_of(order.specification);
  auto const start = std::chrono::steady_clock::now();
  if (!held_.volume || volume.name != held_.name || order.version != held_.version) {
    auto fresh = load_volume(ctx_, volume.open, options_.source(), what_.spec);
    all_.run.stopped_early = !fresh;
    if (!fresh) return {};
    held_.volume = std::move(fresh);
    held_.name = volume.name;
    held_.version = order.version;
    ++counts_.grids;
    all_.loading_seconds += seconds_since(start);
    if (!held_.volume->prepared.has_values()) say_all_missing(held_.name);
  } else if (needs != held_.prepared_for) {
    held_.volume->prepared = prepared_volume(held_.volume->grid, what_.spec);
  }
  held_.prepared_for = needs;
  what_.pixels_per_task =
      options_.tasks.pixels > 0 ? options_.tasks.pixels : task_size(held_.volume->prepared);

  std::string problem;
  auto const frames = static_cast<std::size_t>(order.frames);
  auto const part = volume::render(
      ctx_, held_.volume->prepared, what_, common_.schedule(), common_.farm(),
      [&](int frame, camera const& view, transparent_image const& picture) {
        try {
          save(numbered(output, frame, frames), scenery(held_.volume->prepared.sides()), view, picture);
          if (common_.verify && frame == 0)
            counts_.verified += verify(held_.volume->grid, held_.volume->prepared, what_.spec, view, picture);
        } catch (skel::error const& bad) {
          problem = bad.what();
        }
      });
  all_.add(part);
  if (part.run.stopped_early || !ctx_.is_root() || !problem.empty()) return problem;
  count(frames);
  if (!common_.quiet) {
    fmt::print("{}: {:.3f} s\n", output, seconds_since(start));
    std::fflush(stdout);
  }
  return {};
}

void program_run::each_in_slabs() {
  constexpr int of_a_task = 1000;  // rays are sent in both directions, with 44 bytes per pixel
  if (what_.pixels_per_task == 0) what_.pixels_per_task = of_a_task;
  for (std::size_t i = 0; i < volumes_.size() && !all_.run.stopped_early; ++i) {
    auto const grid =
        survey(ctx_, volumes_[i].open, options_.source(), what_.spec,
               static_cast<std::size_t>(has_resident_slabs() ? ctx_.size() : options_.parts.slabs),
               static_cast<std::size_t>(options_.parts.memory) << 20U);
    if (!grid) {
      all_.run.stopped_early = true;
      return;
    }
    if (!grid->whole.has_values) say_all_missing(volumes_[i].name);
    counts_.slabs = grid->slabs.size();
    vec3 sides{};
    for (std::size_t d = 0; d < 3; ++d)
      sides[d] =
          (grid->whole.coordinates[d].back() - grid->whole.coordinates[d].front()) * what_.spec.stretch[d];
    auto const behind = scenery(sides);
    auto const number = static_cast<int>(i);
    auto const done = [&](int frame, camera const& view, transparent_image const& picture) {
      save(numbered(common_.output, number + frame, counts_.pictures), behind, view, picture);
    };
    auto const& open = volumes_[i].open;
    all_.add(has_resident_slabs()
                 ? render_in_resident_slabs(ctx_, open, options_.source(), *grid, what_, done)
                 : render_in_slabs(ctx_, open, options_.source(), *grid, what_, common_.schedule(),
                                   common_.farm(), done));
  }
}

/// The hash of one picture, or the hash of the hashes of several.
std::string result_hash(std::vector<std::string> const& hashes) {
  if (hashes.size() == 1) return hashes[0];
  skel::xxh3_hasher hasher;
  for (auto const& h : hashes) hasher.update(std::as_bytes(std::span(h)));
  return hasher.hex();
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t mebibyte = 1U << 20U;
  if (bytes < mebibyte / 10) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / mebibyte);
}

skel::program::run_outcome program_run::outcome() const {
  if (!ctx_.is_root()) return {all_.run, {}, {}, {}};
  skel::program::run_outcome outcome;
  outcome.run = all_.run;
  if (!all_.run.stopped_early && !all_.hashes.empty()) outcome.result_xxh3 = result_hash(all_.hashes);
  outcome.failure = failure_;
  outcome.fields = {{"width", what_.spec.width},
                    {"height", what_.spec.height},
                    {"pictures", counts_.pictures},
                    {"pixels_per_task", what_.pixels_per_task},
                    {"loading_seconds", all_.loading_seconds},
                    {"waiting_for_grids_seconds", all_.waited_seconds},
                    {"cells", all_.counts.cells},
                    {"segments", all_.counts.segments}};
  if (counts_.all_missing > 0) outcome.fields.push_back({"volumes_without_values", counts_.all_missing});
  if (counts_.verified > 0) outcome.verified = fmt::format("{} pixels, by brute force", counts_.verified);
  if (in_session())
    outcome.fields.push_back({"grids", counts_.grids});
  else if (common_.output.empty() && !common_.quiet && !all_.run.stopped_early)
    fmt::print("no picture written; -o FILE.png writes one\n");
  if (counts_.slabs > 0) {
    outcome.fields.push_back({"slabs", counts_.slabs});
    outcome.fields.push_back({"grid_bytes_per_rank", all_.grid_memory});
    if (!common_.quiet)
      fmt::print("{} slab{}, at most {} of the grid on a rank\n", counts_.slabs,
                 counts_.slabs == 1 ? "" : "s", size_text(all_.grid_memory));
  }
  outcome.problem = {{"field", volumes_.empty() ? held_.name : volumes_[0].name},
                     {"pixels", std::to_string(counts_.pixels)},
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

skel::program::run_outcome render_all(skel::context& ctx, skel::program::common_options const& common,
                                      options const& o) {
  if (o.list) {
    if (o.file.empty()) throw skel::usage_error("--list: expected a file FIELD");
    if (ctx.is_root()) fmt::print("{}", volume_data::list_variables(o.file));
    return {};
  }
  program_run run(ctx, common, o);
  run.render();
  return run.outcome();
}

}  // namespace volume
