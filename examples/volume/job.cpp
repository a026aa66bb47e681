#include "job.hpp"

#include <algorithm>
#include <map>

#include "skel/broadcast.hpp"
#include "skel/hash.hpp"
#include "task_size.hpp"

namespace volume {

namespace {

struct unfinished {
  picture::transparent_image picture;
  std::uint64_t missing;  // tasks
};

/// Copies next() to each pixel of a task, in the order in which the task renders them.
template <class Next>
void paste(picture::transparent_image& into, tiling const& tiles, task_cutter const& cut, std::uint64_t task,
           Next next) {
  cut.each_tile(task, [&](std::uint64_t tile) {
    tiles.each_pixel(tile, [&](int, int x, int y) {
      auto const at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(into.width) +
                           static_cast<std::size_t>(x));
      rgba const p = next();
      std::ranges::copy(std::array{p.red, p.green, p.blue, p.opacity},
                        into.rgba.begin() + static_cast<std::ptrdiff_t>(at));
    });
  });
}

constexpr rgba missing_pixel{picture::missing_colour[0], picture::missing_colour[1],
                             picture::missing_colour[2], 1};

camera view_of(prepared_volume const& volume, job const& what, int frame) {
  auto const& spec = what.spec;
  return make_camera(spec, volume.low(), volume.sides(), spec.width, spec.height,
                     360.0 * frame / what.frames);
}

}  // namespace

std::optional<int> find_task_size(skel::context& ctx, prepared_volume const& volume, job const& what,
                                  skel::model::machine_at const& where) {
  auto quiet = ctx.beside();  // without progress and trace
  return broadcast(quiet, skel::on_root([&] {
                     renderer const picture(volume, what.spec, view_of(volume, what, 0), what.instructions);
                     auto const pixels = static_cast<std::uint64_t>(what.spec.width) *
                                         static_cast<std::uint64_t>(what.spec.height) *
                                         static_cast<std::uint64_t>(what.frames);
                     return best_task_size(pixels, pixel_seconds(picture), ctx.size() * ctx.threads(),
                                           ctx.size() > 1 ? &where : nullptr);
                   }))
      .value;
}

job_result render(skel::context& ctx, prepared_volume const& volume, job const& what,
                  skel::any_schedule const& schedule, skel::farm_options options, picture_sink const& done) {
  auto const& spec = what.spec;
  task_cutter const cut(spec.width, spec.height, what.decomposition, what.pixels_per_task);
  std::vector<renderer> views;
  views.reserve(static_cast<std::size_t>(what.frames));
  for (int f = 0; f < what.frames; ++f)
    views.emplace_back(volume, spec, view_of(volume, what, f), what.instructions);

  job_result all;
  all.hashes.resize(views.size());
  std::map<std::uint64_t, unfinished> pictures;
  auto const add = [&](skel::task_id id, auto next_pixel) {
    auto const frame = id / cut.tasks();
    auto [at, fresh] = pictures.try_emplace(frame);
    if (fresh) at->second = {picture::transparent_image(spec.width, spec.height), cut.tasks()};
    paste(at->second.picture, views[frame].tiling(), cut, id % cut.tasks(), next_pixel);
    if (--at->second.missing > 0) return;
    all.hashes[frame] = skel::xxh3_hex(std::as_bytes(std::span(at->second.picture.rgba)));
    done(static_cast<int>(frame), views[frame].view(), at->second.picture);
    pictures.erase(at);
  };
  if (options.label.empty()) options.label = what.frames > 1 ? "render turntable" : "render";
  all.run = farm(
                ctx, skel::indices(cut.tasks() * views.size()),
                [&](std::uint64_t id) {
                  return render(views[id / cut.tasks()], cut, id % cut.tasks(), what.time_rays);
                },
                schedule,
                [&](skel::task_id id, sub_image&& part) {
                  if (id >= all.task_seconds.size()) all.task_seconds.resize(id + 1);
                  all.task_seconds[id] = part.seconds;
                  all.counts.cells += part.counts.cells;
                  all.counts.segments += part.counts.segments;
                  all.rays.insert(all.rays.end(), part.rays.begin(), part.rays.end());
                  add(id, [from = part.pixels.begin()]() mutable { return *from++; });
                },
                options)
                .report;
  if (!all.run.stopped_early)
    for (auto const& f : all.run.failed_tasks) add(f.task, [] { return missing_pixel; });
  return all;
}

}  // namespace volume
