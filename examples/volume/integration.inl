// The gain of a packet's rays in their cells. Along a ray the trilinear interpolant is a cubic in
// the distance. At a knot of the mapping the cubic is cut into parts that are close to a straight
// line, and these again where they come to a knot, so that extinction and colour are linear in the
// scalar on each part.

struct accumulated {
  vfloat color[3];
  vfloat transparency;
};

/// Columns `first` to `end` of the pieces' table, for each lane's piece.
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

/// The piece of the mapping that s lies in, the upper one at a knot.
SKEL_INLINE vint piece_at(pieces_view const& p, vfloat s) {
  vint r = all(0);
  for (int i = 0; i + 1 < p.count; ++i)
    r = r + count(s >= all(p.table[8 * (i / 8 * columns + upper) + i % 8]));
  return r;
}

/// A part of a cell, all in one piece of the mapping. It begins where the ray is.
struct linear_part {
  vfloat first, last;  // scalars
  vfloat length;
  vfloat bend;  // mean of the scalar minus that of the straight line
  vint piece;
};

/// How much of the light from behind a part is lost, a = 1 - e^-tau, and which share of that goes to the
/// colour at the part's end: w, see add_part.
struct layer {
  vfloat opacity, weight;
};

/// For an optical depth tau, in the middle of which it is tau / 2 - rise. Thin layers by Taylor's series (to
/// 1e-7), which need neither the exponential nor a division.
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
    // a strong rise may be of a thin layer
    mask const deep = tau > all(0.25F);
    opacity = choose(deep, lost, opacity);
    late = choose(deep, lost / max(tau, all(0.25F)) + lost * all(0.5F) - all(1.0F), late);
  }
  vfloat const weight = opacity * all(0.5F) + late + all(2.0F / 3) * halfway * later;
  return {opacity, min(max(weight, all(0.0F)), opacity)};
}

/// C = integral of colour times extinction times transparency. With opacity a = 1 - e^-tau and colour linear
/// between its ends, C = a c_first + w (c_last - c_first), where w is the integral of the transparency over
/// the part (as a share of its length) minus e^-tau. That is a / tau - e^-tau for constant extinction; what
/// linear extinction adds is taken from Simpson's rule, in which the transparency differs in the middle only.
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
  // where the mean of what is seen comes from: of an opaque part, its front
  mask const seen = tau > zero;
  vfloat const depth = choose(seen, weight / choose(seen, opacity, all(1.0F)), all(0.5F));
  surroundings const s = surroundings_at<lit>(v, r, t + part.length * depth, seen);
  for (int c = 0; c < 3; ++c)
    sum.color[c] = sum.color[c] + s.shade * (gained * color[c] + changed * change[c]) + gained * s.added[c];
}

/// The corners of the rays' cells, in pairs along x: the lower one, and the difference.
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

/// Asks for what corners_at will load a few cells on, and the gradients there, if rays go straight on through
/// cells like this one: only of the rays at the packet's corners and of opposite rows of the cells, since the
/// rest is seldom elsewhere, or has been asked for from the cells around.
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
      // may be outside of the grid: not a pointer
      auto const bytes = static_cast<std::intptr_t>(sizeof(float)) * (row + there[l]);
      __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::intptr_t>(v.values) + bytes));
      if constexpr (lit)
        __builtin_prefetch(
            reinterpret_cast<void const*>(reinterpret_cast<std::intptr_t>(v.gradients) + 4 * bytes));
    }
  }
}

/// The scalar at distance t.
SKEL_INLINE vfloat value_at(rays const& r, corners const& v, vfloat t) {
  vfloat const x = place(r.axis[0], t), y = place(r.axis[1], t), z = place(r.axis[2], t);
  vfloat const a = v.low[0] + x * v.dx[0], b = v.low[1] + x * v.dx[1];
  vfloat const c = v.low[2] + x * v.dx[2], d = v.low[3] + x * v.dx[3];
  vfloat const low = a + y * (b - a), high = c + y * (d - c);
  return low + z * (high - low);
}

/// The scalar from where a ray is to where it leaves the cell, u from 0 to 1:
/// first + u (a1 + u (a2 + u a3)).
struct cubic {
  vfloat first, last;
  vfloat sag;  // first + last - 2 (value in the middle)
  vfloat a3;
  /// By how much it departs from its chord, at most: the second derivative is linear, and the larger end
  /// bounds the distance by an eighth.
  vfloat bulge;
};

/// `first` is `last`, what the part before ended with, where `carried`.
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

/// The lanes' cells: what has been done of them, and what the next part is found from.
struct progress {
  mask carried;  // `last` is the scalar where the ray is
  vfloat last;
  vint piece;    // a guess
  vfloat left;   // parts that are still to come in this cell, at least; 1 without light
  mask partial;  // the part ends inside of the cell
};

/// The next part of each lane's cell, from where the ray is to `until`: all that is left of the cell, if the
/// mapping has no knot there and the cubic is not bent too much. Otherwise as much as is straight enough, and
/// at most up to the next knot.
///
/// A lane comes to an end with its cell: a part that is cut off moves the ray on, and becomes a smaller share
/// of what is left each time; one that ends at a knot moves on to that piece of the mapping, always towards
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
  vfloat const margin = where(c.bulge > all(v.tolerance), c.bulge);
  mask const same =
      (min(c.first, c.last) - margin >= bounds[0]) & (max(c.first, c.last) + margin <= bounds[1]);
  // with no knot to be met, bends are corrected for, and only large ones are cut
  mask whole = same & (c.bulge <= all(64 * v.tolerance));
  if (lit) whole = whole & (now.left <= all(1.0F));
  if (bits(use & ~whole) == 0) return part;

  // as many parts as the root of what is wanted; one where nothing is, whatever rounding says: a ray's bits
  // must not depend on what others of its packet need
  vfloat const wanted =
      where(use & ~whole, c.bulge) * choose(same, all(1 / (64 * v.tolerance)), all(1 / v.tolerance));
  vfloat parts_of_lane = lit ? now.left : all(1.0F);
  for (int n = 1; n < 16 && bits(wanted > all(static_cast<float>(n * n))) != 0; ++n)
    parts_of_lane = choose(wanted > all(static_cast<float>(n * n)),
                           max(parts_of_lane, all(static_cast<float>(n + 1))), parts_of_lane);
  mask const cut = parts_of_lane > all(1.0F);
  vfloat u = all(1.0F) / parts_of_lane;
  vfloat const a2 = (c.sag + c.sag) - all(1.5F) * c.a3, a1 = c.last - c.first - a2 - c.a3;
  vfloat to = choose(cut, c.first + u * (a1 + u * (a2 + u * c.a3)), c.last);

  mask const rising = to >= c.first;
  // a falling line that begins on a knot is in the piece below
  vint const piece = now.piece - count(~rising & (c.first <= bounds[0]));
  columns_at<lower, knot>(p, piece, bounds);
  vfloat const bound = choose(rising, bounds[1], bounds[0]);
  mask const crosses = choose(rising, to > bound, to < bound);
  vfloat const chord = to - c.first;
  u = choose(crosses, u * min((bound - c.first) / choose(crosses, chord, all(1.0F)), all(1.0F)), u);
  to = choose(crosses, bound, to);

  vfloat const end = r.t + u * length;
  mask const partial = use & (end < t1) & (crosses | (cut & (end > r.t)));
  // the mean of the cubic up to u
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
