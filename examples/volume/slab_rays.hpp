// Rays that travel through the slabs of a grid, for the jobs that render slab by slab.
#pragma once

#include <cstdint>
#include <vector>

#include "image.hpp"
#include "job.hpp"
#include "loading.hpp"
#include "renderer.hpp"
#include "skel/transfer.hpp"

namespace volume {

/// Tiles in messages, in both directions.
struct travelling_rays {
  std::vector<std::uint64_t> tiles;
  std::vector<tile_state> states;
  work_counts counts;
};

/// Whether one of a tile's rays may pass through the slab now.
[[nodiscard]] bool meets(tile_state const& s, slab const& part);

/// Throws usage_error for what slabs cannot do.
void require_exact_rule_without_times(job const& what);

/// The view of a frame, as in the whole grid.
[[nodiscard]] camera view_of(surveyed_grid const& grid, job const& what, int frame);

/// The slabs in the order in which every ray of a frame meets them.
[[nodiscard]] std::vector<std::size_t> order_of(surveyed_grid const& grid, job const& what, int frame);

/// The picture of all its tiles.
[[nodiscard]] picture::transparent_image picture_of(std::vector<tile_state> const& states, int width,
                                                    int height);

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
