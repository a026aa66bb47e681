// Rays entering and leaving a slab of the grid. Processes one ray at a time, which happens once per
// slab.

SKEL_INLINE bool is_whole(volume_view const& v) {
  return v.first_slice == 0 && v.end_slice == v.cell_count[2];
}

/// Saves everything that continues in the next slab.
SKEL_INLINE void keep(rays const& r, accumulated const& sum, mask carried, vfloat last, int first,
                      tile_state& to) {
  for (int c = 0; c < 3; ++c) store(to.color[c] + first, sum.color[c]);
  store(to.transparency + first, sum.transparency);
  store(to.t + first, r.t);
  store(to.last + first, last);
  for (int d = 0; d < 3; ++d) store(to.cell[d] + first, r.axis[d].cell);
  to.begun = 1;
  unsigned const others = ~(((1U << lanes) - 1) << first);
  to.alive = (to.alive & others) | bits(r.alive) << first;
  to.carried = (to.carried & others) | bits(carried) << first;
}

/// Resumes the rays where an earlier slab left them.
SKEL_INLINE void resume(tile_state const& from, int first, rays& r, accumulated& sum, mask& carried,
                        vfloat& last) {
  for (int c = 0; c < 3; ++c) sum.color[c] = load<vfloat>(from.color[c] + first);
  sum.transparency = load<vfloat>(from.transparency + first);
  r.t = load<vfloat>(from.t + first);
  last = load<vfloat>(from.last + first);
  for (int d = 0; d < 3; ++d) r.axis[d].cell = load<vint>(from.cell[d] + first);
  r.alive = lanes_of(from.alive >> first);
  carried = lanes_of(from.carried >> first);
}

/// Limits the rays to the slab: only rays inside it are alive, and they end where they leave it.
/// Others are moved to a valid position.
SKEL_INLINE void hold_to_slab(volume_view const& v, rays& r) {
  axis_state& z = r.axis[2];
  alignas(64) int cell[lanes];
  alignas(64) float from[lanes], way[lanes], inverse[lanes], end[lanes];
  store(cell, z.cell);
  store(from, z.from);
  store(way, z.direction);
  store(inverse, z.inverse);
  store(end, r.end);
  axis_cell const* const cells = v.axes + v.first_cell[2];
  unsigned inside = 0;
  for (int l = 0; l < lanes; ++l) {
    if (cell[l] < v.first_slice || cell[l] >= v.end_slice) {
      cell[l] = v.first_slice;
      continue;
    }
    inside |= 1U << l;
    if (way[l] == 0) continue;
    float const plane = way[l] > 0 ? cells[v.end_slice - 1].up : cells[v.first_slice].down;
    float const leaves = (plane - from[l]) * inverse[l];
    end[l] = leaves < end[l] ? leaves : end[l];
  }
  r.alive = r.alive & lanes_of(inside);
  r.end = load<vfloat>(end);
  z.cell = load<vint>(cell);
}

/// Hands rays that worked in the slab and have more of the grid ahead on to the next slab.
SKEL_INLINE void leave_slab(volume_view const& v, rays const& r, vfloat finish, unsigned worked,
                            accumulated const& sum, mask carried, vfloat last, int first, tile_state& to) {
  tile_state now;
  keep(r, sum, carried, last, 0, now);
  unsigned const alive = bits((r.t < finish) & (sum.transparency > all(v.least_transparency))) & worked;
  alignas(64) float from[3][lanes], way[3][lanes], inverse[3][lanes];
  for (int d = 0; d < 3; ++d) {
    store(from[d], r.axis[d].from);
    store(way[d], r.axis[d].direction);
    store(inverse[d], r.axis[d].inverse);
  }
  for (int l = 0; l < lanes; ++l) {
    if ((worked >> l & 1U) == 0) continue;
    int const lane = first + l;  // lane of the tile
    unsigned const bit = 1U << lane;
    to.transparency[lane] = now.transparency[l];
    for (int c = 0; c < 3; ++c) to.color[c][lane] = now.color[c][l];
    bool const goes_on = (alive >> l & 1U) != 0;
    to.alive = (to.alive & ~bit) | (goes_on ? bit : 0U);
    if (!goes_on) continue;
    // Steps through the plane cell by cell: at an edge or corner there are cells of length 0 in
    // between.
    int steps = 0;
    while (now.cell[2][l] >= v.first_slice && now.cell[2][l] < v.end_slice) {
      int by = 2;
      float soonest = __builtin_inff();
      for (int d = 3; d-- > 0;) {
        if (way[d][l] == 0) continue;
        axis_cell const& cell = v.axes[v.first_cell[d] + now.cell[d][l]];
        float const when = ((way[d][l] > 0 ? cell.up : cell.down) - from[d][l]) * inverse[d][l];
        if (when <= soonest) {
          soonest = when;
          by = d;
        }
      }
      now.cell[by][l] += way[by][l] > 0 ? 1 : -1;
      ++steps;
    }
    to.t[lane] = now.t[l];
    to.last[lane] = now.last[l];
    for (int d = 0; d < 3; ++d) to.cell[d][lane] = now.cell[d][l];
    bool const carries = steps == 1 && (now.carried >> l & 1U) != 0;
    to.carried = (to.carried & ~bit) | (carries ? bit : 0U);
  }
}
