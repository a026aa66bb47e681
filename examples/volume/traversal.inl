// A packet of rays on its way from cell to cell. Each lane stands where its ray enters a cell; the
// ray leaves it through the nearest of three planes. Positions are computed from the planes'
// coordinates, never from sums of steps, so that they do not drift.

/// One axis of a packet. For a ray parallel to the axis, inverse is 0 and next is infinite.
struct axis_state {
  vfloat from, direction, inverse;
  vfloat next;         // distance at which the ray leaves the cell along this axis
  vfloat start, rate;  // position inside the cell, 0 to 1, at distance t: start + rate t
  vint cell, step;     // step: 1 or -1, the ray's direction
  vint stride;         // in grid points, with the sign of step
  mask rising;
};

struct rays {
  axis_state axis[3];
  vfloat t, end;  // distances from the entry into the visible box
  vfloat before;  // distance from the eye to the entry
  vint at;        // the grid point at the cell's lowest corner
  mask alive;
};

SKEL_INLINE vfloat place(axis_state const& a, vfloat t) {
  return min(max(a.start + a.rate * t, all(0.0F)), all(1.0F));
}

/// The distances at which the rays cross planes.
SKEL_INLINE vfloat crossing(axis_state const& a, vfloat plane) { return (plane - a.from) * a.inverse; }

SKEL_INLINE mask still(axis_state const& a) { return absolute(a.inverse) <= all(0.0F); }

/// Sets the values that depend on the cell along one axis, for lanes that have just entered it.
SKEL_INLINE void enter(axis_state const& a, vfloat const (&row)[4], vfloat& next, vfloat& start,
                       vfloat& rate) {
  next = crossing(a, choose(a.rising, row[2], row[3]));
  rate = a.direction * row[1];
  start = (a.from - row[0]) * row[1];
}

/// Sets all values that depend on the cells along one axis, from their rows of the table.
SKEL_INLINE void set_cells(axis_state& a, vfloat const (&row)[4]) {
  vfloat next;
  enter(a, row, next, a.start, a.rate);
  a.next = choose(still(a), all(__builtin_inff()), next);
}

/// Computes the rays' grid points. The number is meaningless for a ray outside of the slab.
SKEL_INLINE void set_points(volume_view const& v, rays& r) {
  auto const& [x, y, z] = r.axis;
  r.at = x.cell + y.cell * v.stride[1] + (z.cell - all(v.first_slice)) * v.stride[2];
}

SKEL_INLINE void load_cells(volume_view const& v, int axis, vint cell, vfloat (&row)[4]) {
  load_rows(&v.axes->low, cell + all(v.first_cell[axis]), row);
}

SKEL_INLINE void set_cells(volume_view const& v, rays& r) {
  for (int d = 0; d < 3; ++d) {
    vfloat row[4];
    load_cells(v, d, r.axis[d].cell, row);
    set_cells(r.axis[d], row);
  }
  set_points(v, r);
}

/// Approximates the cells that contain positions, with a table of even steps.
SKEL_INLINE vint guess_cells(volume_view const& v, int axis, vfloat position) {
  vfloat const last = all(static_cast<float>(v.find_count[axis] - 1));
  vfloat const step = min(max(position * all(v.find_scale[axis]), all(0.0F)), last);
  return gather(v.finders[axis], truncated(step));
}

/// Finds the cells that contain positions (on a plane, the upper one) and their rows.
SKEL_INLINE vint find_cells(volume_view const& v, int axis, vfloat position, vfloat (&row)[4]) {
  vint cell = guess_cells(v, axis, position);
  for (;;) {
    load_cells(v, axis, cell, row);
    mask const up = row[2] <= position, down = row[3] > position;
    if (bits(up | down) == 0) return cell;
    cell = cell + count(up) - count(down);
  }
}

/// Clips the rays at the box around all visible cells, in double precision, and moves them to their
/// entry.
SKEL_INLINE void begin(volume_view const& v, tile_rays const& p, int first, rays& r) {
  double near[lanes], far[lanes];
  for (int l = 0; l < lanes; ++l) {
    near[l] = p.least;
    far[l] = 1e300;
  }
  // A ray this flat moves by less than a float's rounding across any grid, so it is treated as
  // parallel.
  constexpr double flat = 1e-12;
  for (int d = 0; d < 3; ++d) {
    double const low = v.box_low[d], high = v.box_high[d];
    for (int l = 0; l < lanes; ++l) {
      double const from = p.from[d][first + l], way = p.direction[d][first + l];
      bool const still = way < flat && way > -flat;
      double const inverse = 1 / (still ? 1 : way);
      double const a = (low - from) * inverse, b = (high - from) * inverse;
      double enters = a < b ? a : b, leaves = a < b ? b : a;
      bool const inside = low <= from && from <= high;
      enters = still ? (inside ? -1e300 : 1e300) : enters;
      leaves = still ? 1e300 : leaves;
      near[l] = near[l] > enters ? near[l] : enters;
      far[l] = far[l] < leaves ? far[l] : leaves;
    }
  }
  alignas(64) float end[lanes], before[lanes];
  for (int l = 0; l < lanes; ++l) {
    bool const hits = near[l] < far[l];
    near[l] = hits ? near[l] : 0;
    end[l] = hits ? static_cast<float>(far[l] - near[l]) : -1.0F;
    before[l] = static_cast<float>(near[l]);
  }
  r.end = load<vfloat>(end);
  r.before = load<vfloat>(before);
  r.alive = r.end > all(0.0F);
  r.t = all(0.0F);
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    alignas(64) float from[lanes], way[lanes], inverse[lanes];
    for (int l = 0; l < lanes; ++l) {
      double const moved = p.from[d][first + l] + near[l] * p.direction[d][first + l];
      double const clipped = moved < v.box_low[d]    ? v.box_low[d]
                             : moved > v.box_high[d] ? v.box_high[d]
                                                     : moved;
      double const w = p.direction[d][first + l];
      bool const still = w < flat && w > -flat;
      from[l] = static_cast<float>(clipped);
      way[l] = still ? 0.0F : static_cast<float>(w);
      inverse[l] = still ? 0.0F : static_cast<float>(1 / w);
    }
    a.from = load<vfloat>(from);
    a.direction = load<vfloat>(way);
    a.inverse = load<vfloat>(inverse);
    a.rising = a.direction >= all(0.0F);
    a.step = choose(a.rising, all(1), all(-1));
    a.stride = choose(a.rising, all(v.stride[d]), all(-v.stride[d]));
    vfloat row[4];
    a.cell = find_cells(v, d, a.from, row);
    set_cells(a, row);
  }
  set_points(v, r);
}

/// Approximates the distance in grid points between the rays' cells and those a few cells ahead.
SKEL_INLINE vint cells_on(volume_view const& v, rays const& r) {
  constexpr float few = 4;
  auto const& [x, y, z] = r.axis;
  vfloat const share = all(few) / (absolute(x.rate) + absolute(y.rate) + absolute(z.rate));
  vint on = all(0);
  for (int d = 0; d < 3; ++d) {
    vfloat const cells = min(max(r.axis[d].rate * share, all(-few)), all(few));
    vfloat const half = choose(cells < all(0.0F), all(-0.5F), all(0.5F));
    on = on + truncated(cells + half) * v.stride[d];
  }
  return on;
}

/// The distances at which the rays leave their cells.
SKEL_INLINE vfloat leaving(rays const& r) {
  vfloat const plane = min(min(r.axis[0].next, r.axis[1].next), r.axis[2].next);
  return max(min(plane, r.end), r.t);
}

/// Advances the lanes of `go` to their next cells.
SKEL_INLINE void advance(volume_view const& v, rays& r, mask go) {
  auto& [x, y, z] = r.axis;
  mask const by_x = go & (x.next <= y.next) & (x.next <= z.next);
  mask const by_y = go & ~by_x & (y.next <= z.next);
  mask const by_z = go & ~by_x & ~by_y;
  x.cell = x.cell + where(by_x, x.step);
  y.cell = y.cell + where(by_y, y.step);
  z.cell = z.cell + where(by_z, z.step);
  r.at = r.at + choose(by_x, x.stride, choose(by_y, y.stride, where(by_z, z.stride)));

  vint const index =
      choose(by_x, x.cell, choose(by_y, y.cell + all(v.first_cell[1]), z.cell + all(v.first_cell[2])));
  vfloat row[4];
  load_rows(&v.axes->low, index, row);
  axis_state moved;
  moved.from = choose(by_x, x.from, choose(by_y, y.from, z.from));
  moved.direction = choose(by_x, x.direction, choose(by_y, y.direction, z.direction));
  moved.inverse = choose(by_x, x.inverse, choose(by_y, y.inverse, z.inverse));
  moved.rising = moved.direction >= all(0.0F);
  vfloat next, start, rate;
  enter(moved, row, next, start, rate);
  mask const by[3] = {by_x, by_y, by_z};
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    a.next = choose(by[d], next, a.next);
    a.start = choose(by[d], start, a.start);
    a.rate = choose(by[d], rate, a.rate);
  }
}

/// Moves the lanes whose cells are in `away`, blocks without visible neighbours, to the end of the
/// empty region. They reach the cells to which steps from cell to cell would lead: of planes
/// crossed at the same distance, x counts before y, and y before z.
SKEL_INLINE void skip(volume_view const& v, rays& r, vint away) {
  vfloat out = r.end;
  vint by = all(-1);
  vint beyond[3];  // end of the empty blocks, along each axis
  vint const reach = where(r.alive, away - all(1));
  for (int d = 0; d < 3; ++d) {
    axis_state const& a = r.axis[d];
    vint const block = shifted_right(a.cell, block_shift);
    vint const low = max(shifted_left(block - reach, block_shift), all(0));
    vint const high = min(shifted_left(block + reach + all(1), block_shift), all(v.cell_count[d])) - all(1);
    vint const last = choose(a.rising, high, low);
    beyond[d] = last + a.step;
    vint const plane = shifted_left(last + all(v.first_cell[d]), 2) + choose(a.rising, all(2), all(3));
    vfloat const leaves = crossing(a, gather(&v.axes->low, plane));
    mask const sooner = ~still(a) & (leaves < out);
    out = choose(sooner, leaves, out);
    by = choose(sooner, all(d), by);
  }
  out = choose(out > r.t, out, r.t);
  r.t = choose(r.alive, out, r.t);
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    mask const leaves = r.alive & (by == all(d)), passes = r.alive & ~leaves & ~still(a);
    mask const ties = all(d) < by;
    vint const from = a.cell, last = beyond[d] - a.step;
    vint const guess = guess_cells(v, d, a.from + out * a.direction);
    a.cell =
        choose(passes, min(max(guess, min(from, last)), max(from, last)), choose(leaves, beyond[d], from));
    for (;;) {
      vfloat row[4];
      load_cells(v, d, a.cell, row);
      // Floats round monotonically: everything beyond a plane that is passed too late is passed too
      // late as well.
      auto const passed = [&](vfloat plane) {
        vfloat const when = crossing(a, plane);
        return (when < out) | (ties & (when <= out));
      };
      mask const on = passes & ~(a.cell == last) & passed(choose(a.rising, row[2], row[3]));
      mask const back = passes & ~(a.cell == from) & ~passed(choose(a.rising, row[3], row[2]));
      if (bits(on | back) == 0) {
        set_cells(a, row);
        break;
      }
      a.cell = a.cell + where(on, a.step) - where(back, a.step);
    }
  }
  r.alive = r.alive & (r.t < r.end);
  set_points(v, r);
}
