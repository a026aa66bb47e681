// Makes isosurfaces of a volume on all ranks.
#pragma once

#include "job.hpp"
#include "mesh.hpp"
#include "skel/multi_host.hpp"

namespace isosurface {

struct modeled {
  skel::report run;
  mesh surfaces;          ///< on the root
  surface_counts counts;  ///< on the root
};

/// Collective. Each rank opens the volume; hosts read it slice by slice. The mesh has the same
/// bytes for every number of ranks, grouping and loss. Values of `options` must be increasing and
/// at most `most_values`. `how.results` is ignored, because the mesh has an order of its own.
/// Throws the errors of multi_host, and usage_error for volumes without a cell.
[[nodiscard]] modeled model_surfaces(skel::context& ctx, open_function const& open,
                                     surface_options const& options, skel::multi_host_options how);

inline constexpr std::size_t most_values = 250;

}  // namespace isosurface
