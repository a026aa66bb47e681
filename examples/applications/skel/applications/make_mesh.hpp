// Isosurfaces of values in memory on all ranks [Bajaj93], the library of skel-isosurface.
//
//     auto const ball = isosurface::make_mesh(ctx, {values, {64, 64, 64}}, 0.5);
//     if (ctx.is_root()) write(ball.positions, ball.triangles);
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "skel/applications/grid_values.hpp"
#include "skel/context.hpp"
#include "skel/multi_host.hpp"
#include "skel/report.hpp"

/// Isosurfaces of volumes; link `skel::applications`.
namespace isosurface {

/// Settings of make_mesh(). The same on every rank.
struct mesh_settings {
  bool smooth = false;  ///< false: linear between grid points (C0); true: tricubic cells (C1)
  int level = 1;        ///< smooth: number of halvings of cells along each axis, 0 to 6
  /// smooth: how far triangles may be from the surface, about, in the grid's coordinates; if
  /// positive, replaces level: cells are halved as often as it needs (6 times at most), and vertices
  /// that it does not need are removed.
  double tolerance = 0;
};

/// An indexed mesh, on the root. Triangles are counter-clockwise as seen from lower values; normals
/// have length 1 and point there.
struct surface {
  std::vector<std::array<float, 3>> positions;          ///< in the grid's coordinates
  std::vector<std::array<float, 3>> normals;            ///< one per position
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< three positions each
  std::uint64_t holes = 0;  ///< cells that were skipped, since one of their values is missing
  skel::report run;         ///< complete on the root
};

/// Makes the surface on which the values are `value`. Collective: every rank passes the same values,
/// and reads only what it needs. The same bytes on every number of ranks, and if ranks
/// are lost. `how.results` is ignored. Throws the errors of skel::multi_host, and usage_error if
/// values and sizes do not fit, a setting is out of range, or ranks pass different ones (of
/// more than 64 MiB of values, slices are compared).
[[nodiscard]] surface make_mesh(skel::context& ctx, volume_data::grid_values const& grid, double value,
                                mesh_settings const& settings = {}, skel::multi_host_options const& how = {});

}  // namespace isosurface
