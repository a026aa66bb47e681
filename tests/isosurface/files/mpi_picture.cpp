// The preview has the same pixels for any number of ranks and threads, those of a single renderer.
#include "mesh_picture.hpp"
#include "mpi/check.hpp"
#include "renderer.hpp"
#include "skel/skel.hpp"
#include "small_mesh.hpp"

namespace {

using namespace isosurface;

std::vector<float> by_one(mesh const& m, picture_view const& view) {
  raytrace::settings how;
  how.width = view.width;
  how.height = view.height;
  how.depth = 1;
  raytrace::renderer const r(picture_scene(m, view), how);
  std::vector<float> rgb(3 * static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height));
  raytrace::ray_counts rays;
  r.render_tile(0, 0, view.width, view.height, rgb, rays);
  return rgb;
}

void run(skel::context& ctx) {
  for (int const height : {67, 1}) {  // also with more tasks than rows
    picture_view const view{40, height, -60, 30, true};
    auto const m = test::balls({3, 2, 1}, 12);
    auto const picture = mesh_picture(ctx, ctx.is_root() ? m : mesh{}, view);
    if (ctx.is_root()) test::check(picture.value().rgb == by_one(m, view), "the pixels of one renderer");
    if (!ctx.is_root()) test::check(picture.value().rgb.empty(), "no picture elsewhere");
    auto const nothing = mesh_picture(ctx, mesh{}, view);
    if (ctx.is_root()) test::check(nothing.value().rgb == by_one(mesh{}, view), "an empty picture");
  }
}

}  // namespace

int main(int argc, char** argv) { return skel::run_main(argc, argv, run); }
