// Reads volumes and distributes them to the ranks [Storm95, §6.3].
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "grid.hpp"
#include "prepared_volume.hpp"
#include "skel/context.hpp"
#include "slabs.hpp"

namespace volume {

/// The ranks that read a volume.
enum class grid_source : unsigned char {
  root,  ///< the root, which broadcasts it to the others
  all    ///< each rank; all must reach the files, and each computes fields itself
};

using opener = std::function<std::unique_ptr<volume_data::volume_reader>()>;

struct loaded_volume {
  volume_data::grid grid;
  prepared_volume prepared;
};

/// Collective, like all functions here. Returns nullptr if the job was stopped early. Throws
/// usage_error on every rank if the volume cannot be read. `spec` must outlive the volume.
[[nodiscard]] std::unique_ptr<loaded_volume> load_volume(skel::context& ctx, opener const& open,
                                                         grid_source from, specification const& spec);

/// A grid that is processed slab by slab.
struct surveyed_grid {
  whole_grid whole;
  std::vector<slab> slabs;
};

/// Cuts the grid into `slabs` slabs or, if that is 0, into as few as fit into `memory` bytes per
/// rank. Reads the volume twice, one slab at a time.
[[nodiscard]] std::unique_ptr<surveyed_grid> survey(skel::context& ctx, opener const& open, grid_source from,
                                                    specification const& spec, std::size_t slabs,
                                                    std::size_t memory);

/// Not collective: reads the planes that a slab is prepared from.
[[nodiscard]] volume_data::grid read_slab(opener const& open, surveyed_grid const& grid, std::size_t number);

[[nodiscard]] std::unique_ptr<prepared_volume> load_slab(skel::context& ctx, opener const& open,
                                                         grid_source from, specification const& spec,
                                                         surveyed_grid const& grid, std::size_t number);

}  // namespace volume
