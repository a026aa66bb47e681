// What eight rays gain in their cells. Along a ray the trilinear interpolant is a cubic in the distance.
// Where it is close to a straight line, or cut into parts that are, the mapping is followed exactly: the line
// is split at the knots that it crosses, and between them extinction and colour are linear in the distance.

struct accumulated {
  f8 color[3];
  f8 transparency;
};

SKEL_INLINE f8 value_of(float const* table, pieces_view const& p, i8 piece) {
  f8 r = look_up(table, piece);
  for (int g = 1; g < p.groups; ++g) {
    i8 const in_group = piece - all(8 * g);
    r = choose(to_float(in_group) >= all(0.0F), look_up(table + 8 * g, in_group), r);
  }
  return r;
}

/// The piece of the mapping that s lies in, the upper one at a knot.
SKEL_INLINE i8 piece_at(pieces_view const& p, f8 s) {
  i8 r = all(0);
  for (int i = 0; i + 1 < p.count; ++i) r = r + count(s >= all(p.upper[i]));
  return r;
}

/// A straight part, all in one piece of the mapping.
struct linear_part {
  f8 first, last;  // scalars
  f8 length;
  f8 middle;  // distance of its middle from where the ray entered
  f8 bend;    // mean of the scalar minus that of the straight line
  i8 piece;
};

/// C = integral of colour times extinction times transparency. With opacity a = 1 - e^-tau and colour linear
/// between its ends, C = a c_first + w (c_last - c_first), where w is the integral of the transparency over
/// the part (as a share of its length) minus e^-tau. That is a / tau - e^-tau for constant extinction; what
/// linear extinction adds is taken from Simpson's rule, in which the transparency differs in the middle only.
template <bool lit>
SKEL_INLINE void add_part(volume_view const& v, rays const& r, linear_part const& part, mask use,
                          accumulated& sum) {
  pieces_view const& p = v.pieces;
  f8 const zero = all(0.0F);
  f8 const knot = value_of(p.knot, p, part.piece);
  f8 const k0 = value_of(p.k0, p, part.piece), k1 = value_of(p.k1, p, part.piece);
  f8 const a = part.first - knot, b = part.last - knot;
  f8 const ka = max(k0 + k1 * a, zero), kb = max(k0 + k1 * b, zero);
  f8 const mean = max((ka + kb) * all(0.5F) + k1 * part.bend, zero);
  f8 const tau = where(use, mean * part.length);
  if (bits(tau > zero) == 0) return;

  f8 const halfway = exponential(tau * all(-0.5F)), through = halfway * halfway;
  mask const thin = tau < all(0.03F);
  f8 const series = tau * (all(1.0F) - tau * (all(0.5F) - tau * (all(1.0F / 6) - tau * all(1.0F / 24))));
  f8 const opacity = choose(thin, series, all(1.0F) - through);
  f8 const divisor = choose(thin, all(1.0F), tau);
  f8 const late = choose(thin, tau * tau * (all(-1.0F / 12) + tau * (all(1.0F / 24) - tau * all(1.0F / 80))),
                         opacity / divisor + opacity * all(0.5F) - all(1.0F));
  f8 const later =
      exponential(where(use, min((kb - ka) * part.length * all(0.125F), all(40.0F)))) - all(1.0F);
  f8 const weight = min(max(opacity * all(0.5F) + late + all(2.0F / 3) * halfway * later, zero), opacity);
  // where the mean of what is seen comes from: of an opaque part, its front
  mask const seen = tau > zero;
  f8 const depth = choose(seen, weight / choose(seen, opacity, all(1.0F)), all(0.5F));
  surroundings const s = surroundings_at<lit>(v, r, part.middle + part.length * (depth - all(0.5F)), seen);
  f8 const scaled = sum.transparency * s.shade;
  f8 const extra = sum.transparency * opacity;
  for (int c = 0; c < 3; ++c) {
    f8 const c0 = value_of(p.c0[c], p, part.piece), c1 = value_of(p.c1[c], p, part.piece);
    f8 const own = opacity * (c0 + c1 * (a + part.bend)) + weight * c1 * (b - a);
    sum.color[c] = sum.color[c] + scaled * own + extra * s.added[c];
  }
  sum.transparency = sum.transparency * (all(1.0F) - opacity);
}

/// The scalar along a ray inside of its cell, u from 0 to 1: s0 + u (a1 + u (a2 + u a3)).
struct cubic {
  f8 first, last;
  f8 a1, a2, a3;
};

SKEL_INLINE f8 interpolate(f8 const (&v)[4], f8 const (&dx)[4], f8 x, f8 y, f8 z) {
  f8 const a = v[0] + x * dx[0], b = v[1] + x * dx[1], c = v[2] + x * dx[2], d = v[3] + x * dx[3];
  f8 const low = a + y * (b - a), high = c + y * (d - c);
  return low + z * (high - low);
}

/// From the eight corners of the cell, for lanes of `use`; `first` is what the last cell ended with where
/// `carried`.
SKEL_INLINE cubic cubic_between(volume_view const& v, rays const& r, f8 t1, mask use, mask carried, f8 last) {
  alignas(32) int at[lanes];
  store(at, r.at);
  f8 low[4], dx[4];
  for (int i = 0; i < 4; ++i) {
    f8 high;
    load_pairs(v.values + (i & 1) * v.stride[1] + (i >> 1) * v.stride[2], at, low[i], high);
    dx[i] = high - low[i];
  }
  f8 const half = all(0.5F);
  f8 const x0 = place(r.axis[0], r.t), y0 = place(r.axis[1], r.t), z0 = place(r.axis[2], r.t);
  f8 const x1 = place(r.axis[0], t1), y1 = place(r.axis[1], t1), z1 = place(r.axis[2], t1);
  cubic c;
  bool const all_carried = bits(use & ~carried) == 0;
  c.first = all_carried ? last : choose(carried, last, interpolate(low, dx, x0, y0, z0));
  c.last = interpolate(low, dx, x1, y1, z1);
  f8 const middle = interpolate(low, dx, (x0 + x1) * half, (y0 + y1) * half, (z0 + z1) * half);
  f8 const twist = (dx[3] - dx[2]) - (dx[1] - dx[0]);
  c.a3 = twist * (x1 - x0) * (y1 - y0) * (z1 - z0);
  c.a2 = all(2.0F) * (c.first + c.last - all(2.0F) * middle) - all(1.5F) * c.a3;
  c.a1 = c.last - c.first - c.a2 - c.a3;
  return c;
}

/// A part of the cell on which the scalar is straight enough, split at the knots that it crosses.
template <bool lit>
SKEL_INLINE void add_straight(volume_view const& v, rays const& r, linear_part part, mask use,
                              accumulated& sum, work_counts& counts) {
  pieces_view const& p = v.pieces;
  f8 const first = part.first, last = part.last, length = part.length, bend = part.bend;
  f8 const begins = part.middle - length * all(0.5F);
  mask const rising = last >= first;
  i8 piece = piece_at(p, first);
  // a falling line that begins on a knot is in the piece below
  piece = piece - where(~rising & (first <= value_of(p.lower, p, piece)), all(1));
  f8 const whole = last - first;
  f8 const slope = all(1.0F) / choose(absolute(whole) > all(0.0F), whole, all(1.0F));
  f8 done = all(0.0F);
  for (int guard = 0; guard <= p.count; ++guard) {
    f8 const bound = choose(rising, value_of(p.upper, p, piece), value_of(p.lower, p, piece));
    mask const crosses = use & choose(rising, last > bound, last < bound);
    f8 const until = choose(crosses, min((bound - first) * slope, all(1.0F)), all(1.0F));
    f8 const share = max(until - done, all(0.0F));
    part.last = choose(crosses, bound, last);
    part.length = length * share;
    part.middle = begins + length * (until + done) * all(0.5F);
    part.bend = bend * share * share;
    part.piece = piece;
    counts.segments += static_cast<unsigned>(__builtin_popcount(bits(use)));
    add_part<lit>(v, r, part, use, sum);
    use = crosses;
    if (bits(use) == 0) return;
    part.first = part.last;
    done = max(done, until);
    piece = piece + where(use, choose(rising, all(1), all(-1)));
  }
}

/// All of one cell.
template <bool lit>
SKEL_INLINE void add_cell(volume_view const& v, rays const& r, cubic const& c, f8 length, mask use,
                          accumulated& sum, work_counts& counts) {
  pieces_view const& p = v.pieces;
  // the second derivative is linear: the larger end bounds the distance from the chord, by an eighth
  f8 const bend = all(2.0F) * c.a2, far_bend = bend + all(6.0F) * c.a3;
  f8 const bulge = max(absolute(bend), absolute(far_bend)) * all(0.125F);
  i8 const lowest = piece_at(p, min(c.first, c.last) - bulge),
           highest = piece_at(p, max(c.first, c.last) + bulge);
  mask const same = lowest == highest;
  // with no knot to be met, bends are corrected for, and only large ones are cut
  f8 const wanted = where(use, bulge) * choose(same, all(1 / (64 * v.tolerance)), all(1 / v.tolerance));
  f8 const mean_bend = (c.a2 + all(1.5F) * c.a3) * all(-1.0F / 6);
  int const least = lit ? v.light_samples : 1;  // light changes inside of a cell, too
  if (least == 1 && bits(use & (~same | (wanted > all(1.0F)))) ==
                        0) {  // one piece of the mapping for each lane: nothing to split, tau is exact
    counts.segments += static_cast<unsigned>(__builtin_popcount(bits(use)));
    // as add_straight has it: a ray's bits must not depend on whether others of its packet need more
    f8 const half = length * all(0.5F), middle = ((r.t + half) - half) + half;
    add_part<lit>(v, r, {c.first, c.last, length, middle, mean_bend, lowest}, use, sum);
    return;
  }
  int cuts = least;
  f8 parts_of_lane = all(static_cast<float>(least));
  // as many parts as the root of what is wanted
  for (int n = least; n < 16 && bits(wanted > all(static_cast<float>(n * n))) != 0; ++n) {
    parts_of_lane = parts_of_lane + to_float(count(wanted > all(static_cast<float>(n * n))));
    cuts = n + 1;
  }
  f8 const step = all(1.0F) / parts_of_lane;
  f8 at = c.first;
  for (int i = 0; i < cuts; ++i) {
    mask const here = use & (all(static_cast<float>(i)) < parts_of_lane);
    mask const final = all(static_cast<float>(i + 1)) >= parts_of_lane;
    f8 const u = all(static_cast<float>(i + 1)) * step;
    f8 const to = choose(final, c.last, c.first + u * (c.a1 + u * (c.a2 + u * c.a3)));
    f8 const mid = u - step * all(0.5F);
    f8 const local = (c.a2 + all(3.0F) * c.a3 * mid) * step * step * all(-1.0F / 6);
    add_straight<lit>(v, r, {at, to, length * step, r.t + length * mid, local, lowest}, here, sum, counts);
    at = to;
  }
}
