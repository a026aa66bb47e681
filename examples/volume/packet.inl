// Takes a packet of rays through the volume.

/// The lanes of `of` whose cells `at` are visible.
SKEL_INLINE mask visible_lanes(volume_view const& v, vint at, mask of) {
#if !defined(SKEL_GATHERS)
  alignas(64) int byte[lanes];
  store_for_indices(byte, shifted_right(at, 3));
  unsigned common = v.visible[byte[0]];
  for (int l = 1; l < lanes; ++l) common &= v.visible[byte[l]];
  if (common == 0xff) return of;
#endif
  return of & bits_at(v.visible, at);
}

/// Whether a jump pays off: over less than two blocks, stepping from cell to cell is as fast.
SKEL_INLINE bool all_away(volume_view const& v, int const* at, unsigned alive, vint& away) {
  alignas(64) int distance[lanes];
  for (int l = 0; l < lanes; ++l) {
    distance[l] = v.cells[at[l]];
    if ((alive >> l & 1U) != 0 && (distance[l] < 2 || distance[l] == visible_cell)) return false;
  }
  away = load<vint>(distance);
  return true;
}

/// Processes the tile's rays from lane `first` on.
template <bool lit>
void integrate_packet(volume_view const& v, tile_rays const& p, int first, bool begun, tile_state& state,
                      work_counts& counts) {
  accumulated sum{{all(0.0F), all(0.0F), all(0.0F)}, all(1.0F)};
  rays r;
  begin(v, p, first, r);
  vfloat const finish = r.end;
  mask const none = r.alive & ~r.alive;
  vfloat const samples = all(static_cast<float>(lit ? v.light_samples : 1));
  progress now{none, all(0.0F), all(0), samples, none};
  bool const whole = is_whole(v);
  if (!whole) {
    if (!begun) keep(r, sum, now.carried, now.last, first, state);
    resume(state, first, r, sum, now.carried, now.last);
    hold_to_slab(v, r);
    set_cells(v, r);
  }
  unsigned const worked = bits(r.alive);
  vint const ahead = cells_on(v, r);
  mask waiting = none;  // lanes that have finished their cell and wait for others
  for (unsigned alive = worked; alive != 0;) {
    vfloat const t1 = leaving(r);
    alignas(64) int at[lanes];
    store(at, r.at);
    mask const visible = visible_lanes(v, r.at, r.alive & (t1 > r.t));
    bool const any = bits(visible) != 0;
    if (any) {
      prefetch<lit>(v, r.at, ahead);
    } else {
      vint away;
      if (all_away(v, at, alive, away)) {
        now.carried = now.carried & ~r.alive;
        skip(v, r, away);
        now.left = samples;
        alive = bits(r.alive);
        continue;
      }
    }
    vfloat until = t1;
    now.partial = none;
    linear_part part;
    vfloat const from = r.t;
    if (any) {
      cubic const c = cubic_between(r, corners_at(v, at), t1, visible, now.carried, now.last);
      part = next_part<lit>(v, r, c, t1, visible, now, until);
      counts.segments += static_cast<unsigned>(__builtin_popcount(bits(visible)));
      if (lit) add_part<lit>(v, r, from, part, visible, sum);
      now.last = choose(visible, part.last, now.last);
    }
    // rays that have left the slab keep their value
    now.carried = choose(r.alive & ~waiting, visible, now.carried);
    r.t = until;
    mask const on = r.alive & (until < r.end);
    // The next cells depend on cells alone, so rays that may become opaque here step on too. Only
    // light needs the current cells afterwards.
    if (!lit) advance(v, r, on & ~now.partial);
    if (!lit && any) add_part<lit>(v, r, from, part, visible, sum);
    r.alive = on & (sum.transparency > all(v.least_transparency));
    mask const go = r.alive & ~now.partial;
    unsigned const left = bits(r.alive);
    if (lit && v.light_samples > 1) {
      // Light is more expensive than waiting, so cells are entered together.
      waiting = go;
      if (bits(r.alive & now.partial) != 0) {
        counts.cells += static_cast<unsigned>(__builtin_popcount(alive & ~left));
        alive = left;
        continue;
      }
      waiting = none;
      now.left = samples;
    }
    counts.cells += static_cast<unsigned>(__builtin_popcount((alive & ~left) | bits(go)));
    alive = left;
    if (lit) advance(v, r, on & ~now.partial);
  }
  if (whole)
    keep(r, sum, now.carried, now.last, first, state);
  else
    leave_slab(v, r, finish, worked, sum, now.carried, now.last, first, state);
}

template <bool lit>
void integrate_tile(volume_view const& v, tile_rays const& p, tile_state& state, work_counts& counts) {
  bool const begun = state.begun;
  for (int first = 0; first < tile_pixels; first += lanes)
    integrate_packet<lit>(v, p, first, begun, state, counts);
}
