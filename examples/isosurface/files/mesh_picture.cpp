#include "mesh_picture.hpp"

#include <algorithm>
#include <memory>

#include "renderer.hpp"
#include "skel/farm.hpp"

namespace isosurface {

namespace {

/// Rows `first`, `first + step`, ... of the picture of a mesh. On the root the mesh is not owned.
struct some_rows {
  std::shared_ptr<mesh const> surfaces;
  picture_view view;
  int first = 0, step = 1;

  [[nodiscard]] int count() const { return (view.height - first + step - 1) / step; }
};

std::vector<float> render(some_rows const& task) {
  raytrace::settings how;
  how.width = task.view.width;
  how.height = task.view.height;
  how.depth = 1;
  raytrace::renderer const picture(picture_scene(*task.surfaces, task.view), how);
  auto const row = 3 * static_cast<std::size_t>(how.width);
  std::vector<float> rgb(row * static_cast<std::size_t>(task.count()));
  raytrace::ray_counts rays;
  for (int i = 0; i < task.count(); ++i)
    picture.render_row(task.first + i * task.step,
                       std::span(rgb).subspan(static_cast<std::size_t>(i) * row, row), rays);
  return rgb;
}

}  // namespace

}  // namespace isosurface

template <>
struct skel::transfer_traits<isosurface::some_rows> {
  using some_rows = isosurface::some_rows;
  static void pack(some_rows const& t, std::vector<std::byte>& out) {
    skel::pack(t.surfaces->positions, out);
    skel::pack(t.surfaces->normals, out);
    skel::pack(t.surfaces->triangles, out);
    skel::pack(t.surfaces->parts, out);
    skel::pack(t.view, out);
    skel::pack(t.first, out);
    skel::pack(t.step, out);
  }
  static some_rows unpack(std::span<std::byte const>& in) {
    isosurface::mesh m;
    m.positions = skel::unpack<std::vector<isosurface::point>>(in);
    m.normals = skel::unpack<std::vector<isosurface::point>>(in);
    m.triangles = skel::unpack<std::vector<std::array<std::uint32_t, 3>>>(in);
    m.parts = skel::unpack<std::vector<isosurface::surface_part>>(in);
    some_rows t;
    t.surfaces = std::make_shared<isosurface::mesh const>(std::move(m));
    t.view = skel::unpack<isosurface::picture_view>(in);
    t.first = skel::unpack<int>(in);
    t.step = skel::unpack<int>(in);
    return t;
  }
};

namespace isosurface {

std::optional<picture::image> mesh_picture(skel::context& ctx, mesh const& surfaces,
                                           picture_view const& view) {
  int const parts = std::clamp(ctx.size() * ctx.threads(), 1, view.height);
  auto const tasks = skel::on_root([&] {
    std::shared_ptr<mesh const> const lent(std::shared_ptr<void>(), &surfaces);  // outlives the farm
    std::vector<some_rows> all;
    all.reserve(static_cast<std::size_t>(parts));
    for (int i = 0; i < parts; ++i) all.push_back({lent, view, i, parts});
    return all;
  });
  picture::image whole;
  if (ctx.is_root()) whole = picture::image(view.width, view.height);
  skel::farm_options options;
  options.label = "preview";
  auto const all = farm(
      ctx, tasks, render, skel::schedule::first_come{},
      [&](skel::task_id id, std::vector<float>&& rgb) {
        auto const row = whole.row(0).size();
        auto from = rgb.begin();
        for (int y = static_cast<int>(id); y < view.height;
             y += parts, from += static_cast<std::ptrdiff_t>(row))
          std::copy_n(from, row, whole.row(y).begin());
      },
      options);
  if (all.report.stopped_early) return std::nullopt;
  return whole;
}

}  // namespace isosurface
