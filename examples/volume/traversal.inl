// Eight rays on their way from cell to cell. Each lane is where its ray enters a cell; the ray leaves it
// through the nearest of three planes. Positions come from the planes' coordinates alone, never from sums of
// steps, so that nothing drifts.

/// One axis of eight rays. Parallel to the axis: inverse is 0 and next infinite, so that it is never left.
struct axis_state {
  f8 from, direction, inverse;
  f8 next;         // distance at which the ray leaves the cell along this axis
  f8 start, rate;  // place inside of the cell, 0 to 1, at distance t: start + rate t
  i8 cell, step;   // step: 1 or -1, the way the ray goes
  i8 stride;       // of grid points, with the sign of step
  mask rising;
};

struct rays {
  axis_state axis[3];
  f8 t, end;  // distances from where the rays enter the visible box
  f8 before;  // from the eye to there
  i8 at;      // the grid point at the cell's lowest corner
  mask alive;
};

SKEL_INLINE f8 place(axis_state const& a, f8 t) {
  return min(max(a.start + a.rate * t, all(0.0F)), all(1.0F));
}

/// The cell in which a position lies; the upper one on a plane. A table of even steps gives a cell that is
/// not beyond, and the planes the rest.
SKEL_INLINE int find_cell(volume_view const& v, int axis, float position) {
  float const scaled = position * v.find_scale[axis];
  int const last = v.find_count[axis] - 1;
  int step = scaled > 0 ? static_cast<int>(scaled) : 0;
  step = step > last ? last : step;
  int cell = v.finders[axis][step];
  axis_cell const* const cells = v.axes + v.first_cell[axis];
  while (cell + 1 < v.cell_count[axis] && cells[cell + 1].low <= position) ++cell;
  while (cell > 0 && cells[cell].low > position) --cell;
  return cell;
}

/// What depends on the cell along one axis, for lanes that have just entered it.
SKEL_INLINE void enter(volume_view const& v, axis_state const& a, f8 const (&row)[4], f8& next, f8& start,
                       f8& rate) {
  next = (choose(a.rising, row[2], row[3]) - a.from) * a.inverse;
  rate = a.direction * row[1];
  start = (a.from - row[0]) * row[1];
  static_cast<void>(v);
}

SKEL_INLINE void set_cells(volume_view const& v, rays& r) {
  r.at = all(0);
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    f8 row[4];
    load_rows(&v.axes->low, a.cell + all(v.first_cell[d]), row);
    f8 next;
    enter(v, a, row, next, a.start, a.rate);
    mask const still = absolute(a.inverse) <= all(0.0F);
    a.next = choose(still, all(__builtin_inff()), next);
    alignas(32) int point[lanes];
    store(point, a.cell);
    int const first = d == 2 ? v.first_slice : 0;
    // unsigned: where a ray is not in the slab, the number means nothing
    for (int l = 0; l < lanes; ++l)
      point[l] =
          static_cast<int>(static_cast<unsigned>(point[l] - first) * static_cast<unsigned>(v.stride[d]));
    r.at = r.at + load<i8>(point);
  }
}

/// Clips the rays at the box around all that is visible, in double precision, and puts them where they enter.
SKEL_INLINE void begin(volume_view const& v, packet const& p, rays& r) {
  double near[lanes], far[lanes];
  for (int l = 0; l < lanes; ++l) {
    near[l] = p.least;
    far[l] = 1e300;
  }
  // So flat that it moves by less than a float's rounding across any grid: parallel.
  constexpr double flat = 1e-12;
  for (int d = 0; d < 3; ++d) {
    double const low = v.box_low[d], high = v.box_high[d];
    for (int l = 0; l < lanes; ++l) {
      double const from = p.from[d][l], way = p.direction[d][l];
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
  alignas(32) float end[lanes], before[lanes];
  for (int l = 0; l < lanes; ++l) {
    bool const hits = near[l] < far[l];
    near[l] = hits ? near[l] : 0;
    end[l] = hits ? static_cast<float>(far[l] - near[l]) : -1.0F;
    before[l] = static_cast<float>(near[l]);
  }
  r.end = load<f8>(end);
  r.before = load<f8>(before);
  r.alive = r.end > all(0.0F);
  r.t = all(0.0F);
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    alignas(32) float from[lanes], way[lanes], inverse[lanes];
    alignas(32) int cell[lanes];
    for (int l = 0; l < lanes; ++l) {
      double const moved = p.from[d][l] + near[l] * p.direction[d][l];
      double const clipped = moved < v.box_low[d]    ? v.box_low[d]
                             : moved > v.box_high[d] ? v.box_high[d]
                                                     : moved;
      double const w = p.direction[d][l];
      bool const still = w < flat && w > -flat;
      from[l] = static_cast<float>(clipped);
      way[l] = still ? 0.0F : static_cast<float>(w);
      inverse[l] = still ? 0.0F : static_cast<float>(1 / w);
      cell[l] = find_cell(v, d, from[l]);
    }
    a.from = load<f8>(from);
    a.direction = load<f8>(way);
    a.inverse = load<f8>(inverse);
    a.cell = load<i8>(cell);
    a.rising = a.direction >= all(0.0F);
    a.step = choose(a.rising, all(1), all(-1));
    a.stride = choose(a.rising, all(v.stride[d]), all(-v.stride[d]));
  }
  set_cells(v, r);
}

/// How much further the grid points of the rays' cells will be a few cells on, about.
SKEL_INLINE i8 cells_on(volume_view const& v, rays const& r) {
  constexpr float few = 4;
  auto const& [x, y, z] = r.axis;
  f8 const share = all(few) / (absolute(x.rate) + absolute(y.rate) + absolute(z.rate));
  alignas(32) int on[lanes] = {};
  for (int d = 0; d < 3; ++d) {
    alignas(32) float cells[lanes];
    store(cells, min(max(r.axis[d].rate * share, all(-few)), all(few)));
    for (int l = 0; l < lanes; ++l)
      on[l] += static_cast<int>(cells[l] + (cells[l] < 0 ? -0.5F : 0.5F)) * v.stride[d];
  }
  return load<i8>(on);
}

/// Where the rays leave their cells.
SKEL_INLINE f8 leaving(rays const& r) {
  f8 const plane = min(min(r.axis[0].next, r.axis[1].next), r.axis[2].next);
  return max(min(plane, r.end), r.t);
}

/// Into the next cell, for the lanes of `go`.
SKEL_INLINE void advance(volume_view const& v, rays& r, mask go) {
  auto& [x, y, z] = r.axis;
  mask const by_x = go & (x.next <= y.next) & (x.next <= z.next);
  mask const by_y = go & ~by_x & (y.next <= z.next);
  mask const by_z = go & ~by_x & ~by_y;
  x.cell = x.cell + where(by_x, x.step);
  y.cell = y.cell + where(by_y, y.step);
  z.cell = z.cell + where(by_z, z.step);
  r.at = r.at + choose(by_x, x.stride, choose(by_y, y.stride, where(by_z, z.stride)));

  i8 const index =
      choose(by_x, x.cell, choose(by_y, y.cell + all(v.first_cell[1]), z.cell + all(v.first_cell[2])));
  f8 row[4];
  load_rows(&v.axes->low, index, row);
  axis_state moved;
  moved.from = choose(by_x, x.from, choose(by_y, y.from, z.from));
  moved.direction = choose(by_x, x.direction, choose(by_y, y.direction, z.direction));
  moved.inverse = choose(by_x, x.inverse, choose(by_y, y.inverse, z.inverse));
  moved.rising = moved.direction >= all(0.0F);
  f8 next, start, rate;
  enter(v, moved, row, next, start, rate);
  mask const by[3] = {by_x, by_y, by_z};
  for (int d = 0; d < 3; ++d) {
    axis_state& a = r.axis[d];
    a.next = choose(by[d], next, a.next);
    a.start = choose(by[d], start, a.start);
    a.rate = choose(by[d], rate, a.rate);
  }
}

/// One ray along one axis.
struct line {
  float from, way, inverse;
};

/// When the ray crosses a plane: as enter() has it, to the bit.
SKEL_INLINE float crossing(line const& a, float plane) { return (plane - a.from) * a.inverse; }

/// The cell that steps from cell to cell would lead to when the ray comes to `out`, of those from low to
/// high. What is crossed exactly there counts if `ties`: x goes before y, and y before z.
SKEL_INLINE int risen_to(volume_view const& v, int axis, line const& a, float out, bool ties, int low,
                         int high) {
  axis_cell const* const cells = v.axes + v.first_cell[axis];
  int c = find_cell(v, axis, a.from + out * a.way);
  c = c < low ? low : c > high ? high : c;
  auto const passed = [&](int cell) {
    float const when = crossing(a, cells[cell].up);
    return when < out || (ties && when <= out);
  };
  while (c < high && passed(c)) ++c;
  while (c > low && !passed(c - 1)) --c;
  return c;
}
SKEL_INLINE int fallen_to(volume_view const& v, int axis, line const& a, float out, bool ties, int low,
                          int high) {
  axis_cell const* const cells = v.axes + v.first_cell[axis];
  int c = find_cell(v, axis, a.from + out * a.way);
  c = c < low ? low : c > high ? high : c;
  auto const passed = [&](int cell) {
    float const when = crossing(a, cells[cell].down);
    return when < out || (ties && when <= out);
  };
  while (c > low && passed(c)) --c;
  while (c < high && !passed(c + 1)) ++c;
  return c;
}

/// Takes the lanes whose cells are in `away`, blocks around which nothing is visible, to where that ends. One
/// ray at a time: it happens seldom.
SKEL_INLINE void skip(volume_view const& v, rays& r, std::uint8_t const* away) {
  alignas(32) float t[lanes], end[lanes], from[3][lanes], way[3][lanes], inverse[3][lanes];
  alignas(32) int cell[3][lanes];
  store(t, r.t);
  store(end, r.end);
  unsigned const alive = bits(r.alive);
  for (int d = 0; d < 3; ++d) {
    store(from[d], r.axis[d].from);
    store(way[d], r.axis[d].direction);
    store(inverse[d], r.axis[d].inverse);
    store(cell[d], r.axis[d].cell);
  }
  for (int l = 0; l < lanes; ++l) {
    if ((alive >> l & 1U) == 0) continue;
    float out = end[l];
    int by = -1;
    int low[3], high[3];  // cells of the clear blocks
    for (int d = 0; d < 3; ++d) {
      int const block = cell[d][l] >> block_shift, reach = away[l] - 1;
      low[d] = (block - reach) << block_shift;
      high[d] = ((block + reach + 1) << block_shift) - 1;
      if (low[d] < 0) low[d] = 0;
      if (high[d] >= v.cell_count[d]) high[d] = v.cell_count[d] - 1;
      axis_cell const* const cells = v.axes + v.first_cell[d];
      float const plane = way[d][l] >= 0 ? cells[high[d]].up : cells[low[d]].down;
      float const leaves = (plane - from[d][l]) * inverse[d][l];
      if (way[d][l] != 0 && leaves < out) {
        out = leaves;
        by = d;
      }
    }
    if (!(out > t[l])) out = t[l];
    t[l] = out;
    for (int d = 0; d < 3; ++d) {
      if (d == by)
        cell[d][l] = way[d][l] >= 0 ? high[d] + 1 : low[d] - 1;
      else if (way[d][l] > 0)
        cell[d][l] = risen_to(v, d, {from[d][l], way[d][l], inverse[d][l]}, out, d < by, cell[d][l], high[d]);
      else if (way[d][l] < 0)
        cell[d][l] = fallen_to(v, d, {from[d][l], way[d][l], inverse[d][l]}, out, d < by, low[d], cell[d][l]);
    }
  }
  r.t = load<f8>(t);
  r.alive = r.alive & (r.t < r.end);
  for (int d = 0; d < 3; ++d) r.axis[d].cell = load<i8>(cell[d]);
  set_cells(v, r);
}
