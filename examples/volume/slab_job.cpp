#include "slab_job.hpp"

#include <algorithm>
#include <ranges>

#include "prefetch.hpp"
#include "report_sum.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace volume {

namespace {

/// Tiles in messages, in both directions.
struct travelling_rays {
  std::vector<std::uint64_t> tiles;
  std::vector<tile_state> states;
  work_counts counts;
};

}  // namespace

}  // namespace volume

template <>
struct skel::transfer_traits<volume::travelling_rays> {
  static void pack(volume::travelling_rays const& r, std::vector<std::byte>& out) {
    skel::pack(r.tiles, out);
    skel::pack(r.states, out);
    skel::pack(r.counts, out);
  }
  static volume::travelling_rays unpack(std::span<std::byte const>& in) {
    volume::travelling_rays r;
    r.tiles = skel::unpack<std::vector<std::uint64_t>>(in);
    r.states = skel::unpack<std::vector<volume::tile_state>>(in);
    r.counts = skel::unpack<volume::work_counts>(in);
    return r;
  }
};

namespace volume {

namespace {

/// Whether one of a tile's rays may pass through the slab now.
bool meets(tile_state const& s, slab const& part) {
  if (s.begun == 0) return true;
  for (std::size_t l = 0; l < tile_pixels; ++l)
    if ((s.alive >> l & 1U) != 0 && s.cell[2][l] >= static_cast<int>(part.first) &&
        s.cell[2][l] < static_cast<int>(part.end))
      return true;
  return false;
}

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
    picture::transparent_image image(width, height);
    for (std::uint64_t t = 0; t < states_.size(); ++t) {
      auto const pixels = pixels_of(states_[t]);
      tiling_.each_pixel(t, [&](int lane, int x, int y) {
        auto const& p = pixels[static_cast<std::size_t>(lane)];
        auto const at =
            4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
        std::ranges::copy(std::array{p.red, p.green, p.blue, p.opacity},
                          image.rgba.begin() + static_cast<std::ptrdiff_t>(at));
      });
    }
    return image;
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

camera view_of(surveyed_grid const& grid, job const& what, int frame) {
  vec3 low{}, sides{};
  for (std::size_t d = 0; d < 3; ++d) {
    auto const& c = grid.whole.coordinates[d];
    low[d] = c.front() * what.spec.stretch[d];
    sides[d] = (c.back() - c.front()) * what.spec.stretch[d];
  }
  return make_camera(what.spec, low, sides, what.spec.width, what.spec.height, 360.0 * frame / what.frames);
}

std::vector<step> plan(surveyed_grid const& grid, job const& what) {
  std::vector<double> planes;
  for (auto const z : grid.whole.coordinates[2])
    planes.push_back((z - grid.whole.coordinates[2].front()) * what.spec.stretch[2]);
  std::vector<step> steps;
  for (int f = 0; f < what.frames; ++f)
    for (auto const s : front_to_back(grid.slabs, planes, view_of(grid, what, f))) steps.push_back({f, s});
  return steps;
}

}  // namespace

job_result render_in_slabs(skel::context& ctx, opener const& open, grid_source from,
                           surveyed_grid const& grid, job const& what, skel::any_schedule const& schedule,
                           skel::farm_options const& options, picture_sink const& done) {
  auto const& spec = what.spec;
  if (spec.rule == rule::trapezoid)
    throw skel::usage_error("--slabs: expected the rule \"exact\", found \"trapezoid\"");
  if (what.time_rays) throw skel::usage_error("--ray-statistics: requires the whole grid, expected no slabs");
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
