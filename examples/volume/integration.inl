// The gain of a packet's rays in their cells. Along a ray the trilinear interpolant is a cubic in
// the distance. The cubic is cut at the knots of the mapping, and further into parts that are
// nearly straight, so that extinction and colour are linear in the scalar on each part.

struct accumulated {
  vfloat color[3];
  vfloat transparency;
};

/// Loads columns `first` to `end` of the table of pieces, for each lane's piece.
template <int first, int end>
SKEL_INLINE void columns_at(pieces_view const& p, vint piece, vfloat (&out)[end - first]) {
#pragma GCC unroll 16
  for (int c = first; c < end; ++c) out[c - first] = look_up(p.table + 8 * c, piece);
  for (int g = 1; g < p.groups; ++g) {
    vint const in_group = piece - all(8 * g);
    mask const here = to_float(in_group) >= all(0.0F);
#pragma GCC unroll 16
    for (int c = first; c < end; ++c)
      out[c - first] = choose(here, look_up(p.table + 8 * (g * columns + c), in_group), out[c - first]);
  }
}

/// Returns the piece of the mapping that contains s; at a knot, the upper one.
SKEL_INLINE vint piece_at(pieces_view const& p, vfloat s) {
  vint r = all(0);
  for (int i = 0; i + 1 < p.count; ++i)
    r = r + count(s >= all(p.table[8 * (i / 8 * columns + upper) + i % 8]));
  return r;
}

/// A part of a cell within one piece of the mapping. It begins at the ray's position.
struct linear_part {
  vfloat first, last;  // scalars
  vfloat length;
  vfloat bend;  // mean of the scalar minus mean of the straight line
  vint piece;
};

/// The share of the light from behind that a part absorbs, a = 1 - e^-tau, and the weight w of the
/// colour at the part's end, see add_part.
struct layer {
  vfloat opacity, weight;
};

/// Computes a layer of optical depth tau, whose depth in the middle is tau / 2 - rise. Thin layers
/// use a Taylor series (accurate to 1e-7), which needs neither the exponential nor a division.
SKEL_INLINE layer layer_of(vfloat tau, vfloat rise) {
  vfloat opacity =
      tau *
      (all(1.0F) -
       tau * (all(0.5F) - tau * (all(1.0F / 6) -
                                 tau * (all(1.0F / 24) - tau * (all(1.0F / 120) - tau * all(1.0F / 720))))));
  vfloat late =
      tau * tau * (all(-1.0F / 12) + tau * (all(1.0F / 24) - tau * (all(1.0F / 80) - tau * all(1.0F / 360))));
  vfloat halfway = all(1.0F) - tau * (all(0.5F) - tau * (all(0.125F) - tau * all(1.0F / 48)));
  vfloat later = rise * (all(1.0F) + rise * (all(0.5F) + rise * all(1.0F / 6)));
  mask const thick = (tau > all(0.25F)) | (absolute(rise) > all(0.0625F));
  if (bits(thick) != 0) {
    vfloat const half = exponential(tau * all(-0.5F)), lost = all(1.0F) - half * half;
    halfway = choose(thick, half, halfway);
    later = choose(thick, exponential(min(rise, all(40.0F))) - all(1.0F), later);
    // a thin layer may have a strong rise
    mask const deep = tau > all(0.25F);
    opacity = choose(deep, lost, opacity);
    late = choose(deep, lost / max(tau, all(0.25F)) + lost * all(0.5F) - all(1.0F), late);
  }
  vfloat const weight = opacity * all(0.5F) + late + all(2.0F / 3) * halfway * later;
  return {opacity, min(max(weight, all(0.0F)), opacity)};
}

/// C = integral of colour times extinction times transparency. With opacity a = 1 - e^-tau and
/// colour linear between its ends, C = a c_first + w (c_last - c_first), where w is the integral of
/// the transparency over the part (as a share of its length) minus e^-tau. For constant extinction
/// that is a / tau - e^-tau. The contribution of linear extinction comes from Simpson's rule, in
/// which the transparency differs only in the middle.
template <bool lit>
SKEL_INLINE void add_part(volume_view const& v, rays const& r, vfloat t, linear_part const& part, mask use,
                          accumulated& sum) {
  vfloat const zero = all(0.0F);
  vfloat row[columns - knot];
  columns_at<knot, columns>(v.pieces, part.piece, row);
  vfloat const k = row[k0 - knot], slope = row[k1 - knot];
  vfloat const *const color = row + (c0 - knot), *const change = row + (c1 - knot);
  vfloat const a = part.first - row[0], b = part.last - row[0];
  vfloat const ka = max(k + slope * a, zero), kb = max(k + slope * b, zero);
  vfloat const mean = max((ka + kb) * all(0.5F) + slope * part.bend, zero);
  vfloat const tau = where(use, mean * part.length);
  if (bits(tau > zero) == 0) return;

  auto const [opacity, weight] = layer_of(tau, where(use, (kb - ka) * part.length * all(0.125F)));
  vfloat const gained = sum.transparency * opacity;
  vfloat const changed = sum.transparency * (opacity * (a + part.bend) + weight * (b - a));
  sum.transparency = sum.transparency - gained;
  if (!lit && !(v.fog_density > 0)) {
    for (int c = 0; c < 3; ++c) sum.color[c] = sum.color[c] + (gained * color[c] + changed * change[c]);
    return;
  }
  // mean position of the visible light; for an opaque part, its front
  mask const seen = tau > zero;
  vfloat const depth = choose(seen, weight / choose(seen, opacity, all(1.0F)), all(0.5F));
  surroundings const s = surroundings_at<lit>(v, r, t + part.length * depth, seen);
  for (int c = 0; c < 3; ++c)
    sum.color[c] = sum.color[c] + s.shade * (gained * color[c] + changed * change[c]) + gained * s.added[c];
}

/// The corners of the rays' cells, in pairs along x: the lower value, and the difference.
struct corners {
  vfloat low[4], dx[4];
};

SKEL_INLINE corners corners_at(volume_view const& v, int const* at) {
  corners c;
  for (int i = 0; i < 4; ++i) {
    vfloat high;
    load_pairs(v.values + (i & 1) * v.stride[1] + (i >> 1) * v.stride[2], at, c.low[i], high);
    c.dx[i] = high - c.low[i];
  }
  return c;
}

/// Prefetches the values and gradients that corners_at will load a few cells ahead, assuming
/// straight rays through similar cells. Only for the rays at the packet's corners and opposite rows
/// of their cells: the others are nearly always close to these, or were prefetched from
/// neighbouring cells.
template <bool lit>
SKEL_INLINE void prefetch(volume_view const& v, vint at, vint ahead) {
  static_assert(lanes % tile_width == 0);
  constexpr int corner_lanes[] = {0, tile_width - 1, lanes - tile_width, lanes - 1};
  alignas(64) int there[lanes];
  store_for_indices(there, at + ahead);
  for (int i = 0; i < 4; i += 3) {
    auto const row =
        static_cast<std::intptr_t>(i & 1) * v.stride[1] + static_cast<std::intptr_t>(i >> 1) * v.stride[2];
    for (int const l : corner_lanes) {
      // an integer, because it may lie outside of the grid
      auto const bytes = static_cast<std::intptr_t>(sizeof(float)) * (row + there[l]);
      __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::intptr_t>(v.values) + bytes));
      if constexpr (lit)
        __builtin_prefetch(
            reinterpret_cast<void const*>(reinterpret_cast<std::intptr_t>(v.gradients) + 4 * bytes));
    }
  }
}

/// Returns the scalar at distance t.
SKEL_INLINE vfloat value_at(rays const& r, corners const& v, vfloat t) {
  vfloat const x = place(r.axis[0], t), y = place(r.axis[1], t), z = place(r.axis[2], t);
  vfloat const a = v.low[0] + x * v.dx[0], b = v.low[1] + x * v.dx[1];
  vfloat const c = v.low[2] + x * v.dx[2], d = v.low[3] + x * v.dx[3];
  vfloat const low = a + y * (b - a), high = c + y * (d - c);
  return low + z * (high - low);
}

/// The scalar between the ray's position and the exit from the cell, u from 0 to 1:
/// first + u (a1 + u (a2 + u a3)).
struct cubic {
  vfloat first, last;
  vfloat sag;  // first + last - 2 (value in the middle)
  vfloat a3;
  /// Bound on the deviation from the chord: the second derivative is linear, and an eighth of its
  /// larger end bounds the distance.
  vfloat bulge;
};

/// With `carried`, `first` is `last`, the value at the end of the previous part.
SKEL_INLINE cubic cubic_between(rays const& r, corners const& v, vfloat t1, mask use, mask carried,
                                vfloat last) {
  vfloat const length = t1 - r.t;
  cubic c;
  c.first = bits(use & ~carried) == 0 ? last : choose(carried, last, value_at(r, v, r.t));
  c.last = value_at(r, v, t1);
  vfloat const middle = value_at(r, v, r.t + length * all(0.5F));
  c.sag = c.first + c.last - (middle + middle);
  vfloat const twist = (v.dx[3] - v.dx[2]) - (v.dx[1] - v.dx[0]);
  c.a3 = twist * (r.axis[0].rate * length) * (r.axis[1].rate * length) * (r.axis[2].rate * length);
  c.bulge = absolute(c.sag) * all(0.5F) + absolute(c.a3) * all(0.375F);
  return c;
}

/// The lanes' progress in their cells, and the data for finding the next part.
struct progress {
  mask carried;  // `last` is the scalar at the ray's position
  vfloat last;
  vint piece;    // a guess
  vfloat left;   // minimum number of remaining parts in this cell; 1 without light
  mask partial;  // the part ends inside the cell
};

/// c(u) = a0 + u (a1 + u (a2 + u a3)) and its derivative.
struct polynomial {
  vfloat a0, a1, a2, a3;
  SKEL_INLINE vfloat at(polynomial const& c, vfloat u) { return c.a0 + u * (c.a1 + u * (c.a2 + u * c.a3)); }
  SKEL_INLINE vfloat slope(polynomial const& c, vfloat u) {
    return c.a1 + u * (c.a2 + c.a2 + u * (all(3.0F) * c.a3));
  }
};
constexpr int halvings = 12;

/// Returns a place just behind the first extremum between 0 and u, or u.
SKEL_INLINE vfloat up_to_extremum(polynomial const& c, vfloat u, mask use) {
  vfloat const zero = all(0.0F);
  mask const rises = polynomial::slope(c, zero) > zero;
  // Between the ends and the inflection, the slope changes its sign once at most.
  mask const bends = absolute(c.a3) > zero;
  vfloat const inflection = -c.a2 / (all(3.0F) * choose(bends, c.a3, all(1.0F)));
  mask const splits = bends & (inflection > zero) & (inflection < u);
  vfloat const middle = choose(splits, inflection, u);
  auto const turned = [&](vfloat at) {
    return choose(rises, polynomial::slope(c, at) < zero, polynomial::slope(c, at) > zero);
  };
  mask const early = turned(middle);
  vfloat low = where(~early, where(splits, middle)), high = choose(early, middle, u);
  mask const found = use & turned(high);
  if (bits(found) == 0) return u;
  for (int i = 0; i < halvings; ++i) {
    vfloat const half = (low + high) * all(0.5F);
    mask const behind = turned(half);
    high = choose(behind, half, high);
    low = choose(behind, low, half);
  }
  return choose(found, high, u);
}

/// Returns where a cubic without an extremum between 0 and u passes the value.
SKEL_INLINE vfloat crossing(polynomial const& c, vfloat u, vfloat value, mask rises) {
  vfloat low = all(0.0F), high = u;
  for (int i = 0; i < halvings; ++i) {
    vfloat const half = (low + high) * all(0.5F), at = polynomial::at(c, half);
    mask const behind = choose(rises, at > value, at < value);
    high = choose(behind, half, high);
    low = choose(behind, low, half);
  }
  return (low + high) * all(0.5F);
}

/// Returns the next part of each lane's cell, from the ray's position to at most `until`. It is the
/// rest of the cell if the mapping has no knot there and the cubic is straight enough. Otherwise it
/// is as long as straightness allows, and at most up to the next knot: up to where a straight line meets
/// it or, if opacity jumps at some knot, the cubic. A grazed jump shows an error's square root.
///
/// Every lane reaches the end of its cell: a cut part advances the ray and shrinks as a share of
/// the rest; a part that ends at a knot advances to the next piece of the mapping, always towards
/// the cubic's end.
template <bool lit>
SKEL_INLINE linear_part next_part(volume_view const& v, rays const& r, cubic const& c, vfloat t1, mask use,
                                  progress& now, vfloat& until) {
  pieces_view const& p = v.pieces;
  vfloat bounds[2];
  columns_at<lower, knot>(p, now.piece, bounds);
  if (bits(use & ~((c.first >= bounds[0]) & (c.first < bounds[1]))) != 0) {
    now.piece = piece_at(p, c.first);
    columns_at<lower, knot>(p, now.piece, bounds);
  }
  vfloat const length = t1 - r.t;
  linear_part part{c.first, c.last, length, c.sag * all(-1.0F / 3), now.piece};
  until = t1;
  now.partial = use & ~use;
  vfloat const margin = where(c.bulge > all(v.least_bend), c.bulge);
  mask const same =
      (min(c.first, c.last) - margin >= bounds[0]) & (max(c.first, c.last) + margin <= bounds[1]);
  // without a knot ahead, small bends are corrected and only large ones are cut
  mask whole = same & (c.bulge <= all(v.most_bend));
  if (lit) whole = whole & (now.left <= all(1.0F));
  if (bits(use & ~whole) == 0) return part;

  // The number of parts is the root of the wanted ratio, and exactly one if no cut is wanted,
  // regardless of rounding: a ray's bits must not depend on the other rays of its packet.
  vfloat const wanted =
      where(use & ~whole, c.bulge) * choose(same, all(1 / v.most_bend), all(1 / v.tolerance));
  vfloat parts_of_lane = lit ? now.left : all(1.0F);
  for (int n = 1; n < 16 && bits(wanted > all(static_cast<float>(n * n))) != 0; ++n)
    parts_of_lane = choose(wanted > all(static_cast<float>(n * n)),
                           max(parts_of_lane, all(static_cast<float>(n + 1))), parts_of_lane);
  mask cut = parts_of_lane > all(1.0F);
  vfloat u = all(1.0F) / parts_of_lane;
  vfloat const a2 = (c.sag + c.sag) - all(1.5F) * c.a3, a1 = c.last - c.first - a2 - c.a3;
  polynomial const exact{c.first, a1, a2, c.a3};
  if (__builtin_expect(v.jumps, false)) {
    vfloat const turn = up_to_extremum(exact, u, use & ~whole);
    cut = cut | (turn < u);
    u = turn;
  }
  vfloat to = choose(cut, polynomial::at(exact, u), c.last);

  mask const rising = to >= c.first;
  // a falling line that begins on a knot belongs to the piece below
  vint const piece = now.piece - count(~rising & (c.first <= bounds[0]));
  columns_at<lower, knot>(p, piece, bounds);
  vfloat const bound = choose(rising, bounds[1], bounds[0]);
  mask const crosses = choose(rising, to > bound, to < bound);
  vfloat const chord = to - c.first;
  if (__builtin_expect(v.jumps, false) && bits(use & crosses) != 0)
    u = choose(crosses, crossing(exact, u, bound, rising), u);
  else
    u = choose(crosses, u * min((bound - c.first) / choose(crosses, chord, all(1.0F)), all(1.0F)), u);
  to = choose(crosses, bound, to);

  vfloat const end = r.t + u * length;
  mask const partial = use & (end < t1) & (crosses | (cut & (end > r.t)));
  // mean of the cubic up to u
  vfloat const bend = (part.bend + all(0.25F) * c.a3 * (all(1.0F) - u)) * u * u;
  part.piece = choose(partial | ~cut, piece, now.piece);
  part.last = choose(partial, to, part.last);
  part.length = choose(partial, end - r.t, length);
  part.bend = choose(partial, bend, part.bend);
  until = choose(partial, end, t1);
  now.partial = partial;
  if (lit) now.left = choose(partial & ~crosses, max(now.left - all(1.0F), all(1.0F)), now.left);
  return part;
}
