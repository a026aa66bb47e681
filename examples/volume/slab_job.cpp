#include "slab_job.hpp"

#include <algorithm>
#include <ranges>

#include "prefetch.hpp"
#include "report_sum.hpp"
#include "skel/hash.hpp"
#include "slab_rays.hpp"

namespace volume {

namespace {

/// The rays of one picture, on the root.
class ray_store {
 public:
  ray_store(int width, int height) : tiling_(width, height), states_(tiling_.tiles()) {}

  /// The tiles with rays in the slab, scattered over tasks of about `pixels` pixels each.
  auto tasks(slab const& part, int pixels) {
    active_.clear();
    for (std::uint64_t t = 0; t < states_.size(); ++t)
      if (meets(states_[t], part)) active_.push_back(t);
    auto const each = static_cast<std::uint64_t>(std::max(1, pixels / tile_pixels));
    count_ = (active_.size() + each - 1) / each;
    return std::views::iota(std::uint64_t{0}, count_) |
           std::views::transform([this](std::uint64_t task) { return rays_of(task); });
  }

  void record(travelling_rays const& back) {
    for (std::size_t i = 0; i < back.tiles.size(); ++i) states_[back.tiles[i]] = back.states[i];
  }

  [[nodiscard]] picture::transparent_image picture(int width, int height) const {
    return picture_of(states_, width, height);
  }

 private:
  [[nodiscard]] travelling_rays rays_of(std::uint64_t task) const {
    travelling_rays r;
    for (auto i = task; i < active_.size(); i += count_) {
      r.tiles.push_back(active_[i]);
      r.states.push_back(states_[active_[i]]);
    }
    return r;
  }

  tiling tiling_;
  std::vector<tile_state> states_;
  std::vector<std::uint64_t> active_;
  std::uint64_t count_ = 0;
};

/// A slab of a picture, in the order of processing.
struct step {
  int frame;
  std::size_t slab;
};

std::vector<step> plan(surveyed_grid const& grid, job const& what) {
  std::vector<step> steps;
  for (int f = 0; f < what.frames; ++f)
    for (auto const s : order_of(grid, what, f)) steps.push_back({f, s});
  return steps;
}

}  // namespace

job_result render_in_slabs(skel::context& ctx, opener const& open, grid_source from,
                           surveyed_grid const& grid, job const& what, skel::any_schedule const& schedule,
                           skel::farm_options const& options, picture_sink const& done) {
  auto const& spec = what.spec;
  require_exact_rule_without_times(what);
  auto const steps = plan(grid, what);
  prefetch<prepared_volume> slabs(ctx, steps.size(), [&](skel::context& calls, std::size_t i) {
    return load_slab(calls, open, from, spec, grid, steps[i].slab);
  });
  job_result all;
  std::optional<ray_store> rays;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const [frame, number] = steps[i];
    auto const here = slabs.next();
    if (!here) all.run.stopped_early = true;
    if (all.run.stopped_early) return all;
    std::size_t const held = ctx.has_beside() && steps.size() > 1 ? 2 : 1;  // the next one, too
    all.grid_memory = std::max(all.grid_memory, held * here->memory());
    auto const view = view_of(grid, what, frame);
    renderer const picture(*here, spec, view, what.instructions);
    if (ctx.is_root() && !rays) rays.emplace(spec.width, spec.height);
    auto how = options;
    if (how.label.empty())
      how.label = "slab " + std::to_string(i + 1) + " of " + std::to_string(steps.size());
    add(all.run,
        farm(
            ctx, skel::on_root([&] { return rays->tasks(grid.slabs[number], what.pixels_per_task); }),
            [&](travelling_rays r) {
              for (std::size_t k = 0; k < r.tiles.size(); ++k)
                picture.take_through(r.tiles[k], r.states[k], r.counts);
              return r;
            },
            schedule,
            [&](skel::task_id, travelling_rays&& back) {
              rays->record(back);
              all.counts.cells += back.counts.cells;
              all.counts.segments += back.counts.segments;
            },
            how)
            .report);
    if (all.run.stopped_early) return all;
    bool const last = i + 1 == steps.size() || steps[i + 1].frame != frame;
    if (!last || !rays) continue;
    auto const image = rays->picture(spec.width, spec.height);
    all.hashes.push_back(skel::xxh3_hex(std::as_bytes(std::span(image.rgba))));
    done(frame, view, image);
    rays.reset();
  }
  all.waited_seconds = slabs.waited_seconds();
  all.loading_seconds = slabs.loading_seconds();
  return all;
}

}  // namespace volume
