#include "loading.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "fingerprint.hpp"
#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "travelling.hpp"

namespace volume {

namespace {

/// Calls `read` on the root and broadcasts, or on each rank. Returns nothing if the job was stopped
/// early.
template <class Read>
auto on_all_ranks(skel::context& ctx, grid_source from, Read const& read) {
  using what = decltype(read());
  auto const safely = [&] {
    reading<what> r;
    try {
      r.what = read();
    } catch (skel::usage_error const& bad) {
      r.error = bad.what();
    }
    return r;
  };
  auto got = from == grid_source::all ? std::optional(safely())
                                      : broadcast(ctx, skel::on_root(safely), "grid").value;
  if (got && !got->error.empty()) throw skel::usage_error(got->error);
  return got;
}

/// Compares volumes that each rank has read. `digest` is called only if needed.
template <class Digest>
void require_same_volume(skel::context& ctx, grid_source from, Digest const& digest) {
  if (from == grid_source::all && ctx.size() > 1)
    ctx.require_same("the volume (FIELD or --series)", digest());
}

/// Reads planes first ... end - 1 along z.
volume_data::grid read_planes(volume_data::volume_reader& from, std::size_t first, std::size_t end) {
  volume_data::grid g;
  g.header = from.header();
  from.skip(first - from.position());
  g.values.resize((end - first) * g.header.slice_bytes());
  from.read(std::span(g.values));
  auto& z = g.header.coordinates[2];
  z = {z.begin() + static_cast<std::ptrdiff_t>(first), z.begin() + static_cast<std::ptrdiff_t>(end)};
  g.header.size[2] = end - first;
  return g;
}

value_range find_range(volume_data::volume_reader& from) {
  range_finder finder;
  std::vector<double> slice(from.header().slice_samples());
  while (from.position() < from.header().size[2]) {
    from.read(std::span(slice));
    finder.add(slice);
  }
  return finder.result();
}

/// Finds the box around the visible cells of all slabs.
void find_box(opener const& open, specification spec, surveyed_grid& grid) {
  spec.light.reset();  // gradients do not influence visibility
  bool any = false;
  for (auto const& part : grid.slabs) {
    auto const planes = grid.whole.coordinates[2].size();
    prepared_volume const prepared(read_planes(*open(), part.first_plane(), part.end_plane(planes)), spec,
                                   grid.whole, part);
    auto const& [low, high] = prepared.own_box();
    if (!(low[0] < high[0])) continue;
    for (std::size_t d = 0; d < 3; ++d) {
      grid.whole.box_low[d] = any ? std::min(grid.whole.box_low[d], low[d]) : low[d];
      grid.whole.box_high[d] = any ? std::max(grid.whole.box_high[d], high[d]) : high[d];
    }
    any = true;
  }
}

}  // namespace

std::unique_ptr<loaded_volume> load_volume(skel::context& ctx, opener const& open, grid_source from,
                                           specification const& spec) {
  auto got = on_all_ranks(ctx, from, [&] { return volume_data::read_grid(*open()); });
  if (!got) return nullptr;
  require_same_volume(ctx, from, [&] { return volume_data::fingerprint(got->what); });
  prepared_volume prepared(got->what, spec);
  return std::make_unique<loaded_volume>(loaded_volume{std::move(got->what), std::move(prepared)});
}

std::unique_ptr<surveyed_grid> survey(skel::context& ctx, opener const& open, grid_source from,
                                      specification const& spec, std::size_t slabs, std::size_t memory) {
  auto got = on_all_ranks(ctx, from, [&] {
    auto const volume = open();
    auto const& header = volume->header();
    for (auto const n : header.size)
      if (n < 2) throw skel::usage_error(header.name + ": expected at least two points along each axis");
    surveyed_grid grid;
    auto const count = slabs > 0 ? slabs : slabs_for_memory(header, memory, spec.light.has_value());
    grid.slabs = cut_into_slabs(header.size[2] - 1, count);
    grid.whole.coordinates = header.coordinates;
    auto const [least, most, has_values] = find_range(*volume);
    grid.whole.least = least;
    grid.whole.most = most;
    grid.whole.has_values = has_values;
    find_box(open, spec, grid);
    return grid;
  });
  if (!got) return nullptr;
  require_same_volume(ctx, from, [&] { return volume_data::fingerprint(*open()); });
  return std::make_unique<surveyed_grid>(std::move(got->what));
}

volume_data::grid read_slab(opener const& open, surveyed_grid const& grid, std::size_t number) {
  auto const& part = grid.slabs[number];
  return read_planes(*open(), part.first_plane(), part.end_plane(grid.whole.coordinates[2].size()));
}

std::unique_ptr<prepared_volume> load_slab(skel::context& ctx, opener const& open, grid_source from,
                                           specification const& spec, surveyed_grid const& grid,
                                           std::size_t number) {
  auto const got = on_all_ranks(ctx, from, [&] { return read_slab(open, grid, number); });
  return got ? std::make_unique<prepared_volume>(got->what, spec, grid.whole, grid.slabs[number]) : nullptr;
}

}  // namespace volume
