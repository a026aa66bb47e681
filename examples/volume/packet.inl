// Eight rays through the volume.

/// The lanes of `of` whose cells, the `at`, are visible.
SKEL_INLINE mask visible_lanes(volume_view const& v, i8 at, mask of) {
  alignas(32) int byte[lanes];
  store_for_indices(byte, shifted_right(at, 3));
  unsigned common = v.visible[byte[0]];
  for (int l = 1; l < lanes; ++l) common &= v.visible[byte[l]];
  if (common == 0xff) return of;
  alignas(32) int index[lanes];
  alignas(32) int shows[lanes];
  store(index, at);
  for (int l = 0; l < lanes; ++l) shows[l] = -(v.visible[byte[l]] >> (index[l] & 7) & 1);
  return of & load<mask>(shows);
}

/// Whether a jump pays: over less than two blocks, steps from cell to cell take no longer.
SKEL_INLINE bool all_away(volume_view const& v, int const* at, unsigned alive, std::uint8_t (&away)[lanes]) {
  for (int l = 0; l < lanes; ++l) {
    away[l] = v.cells[at[l]];
    if ((alive >> l & 1U) != 0 && (away[l] < 2 || away[l] == visible_cell)) return false;
  }
  return true;
}

template <bool lit>
void integrate_packet(volume_view const& v, packet const& p, packet_state& state, work_counts& counts) {
  accumulated sum{{all(0.0F), all(0.0F), all(0.0F)}, all(1.0F)};
  rays r;
  begin(v, p, r);
  f8 const finish = r.end;
  mask const none = r.alive & ~r.alive;
  f8 const samples = all(static_cast<float>(lit ? v.light_samples : 1));
  progress now{none, all(0.0F), all(0), samples, none};
  bool const whole = is_whole(v);
  if (!whole) {
    if (state.begun == 0) keep(r, sum, now.carried, now.last, state);
    resume(state, r, sum, now.carried, now.last);
    hold_to_slab(v, r);
    set_cells(v, r);
  }
  unsigned const worked = bits(r.alive);
  i8 const ahead = cells_on(v, r);
  mask waiting = none;  // lanes that have done their cell, while others have not
  for (unsigned alive = worked; alive != 0;) {
    f8 const t1 = leaving(r);
    alignas(32) int at[lanes];
    store(at, r.at);
    mask const visible = visible_lanes(v, r.at, r.alive & (t1 > r.t));
    bool const any = bits(visible) != 0;
    if (any) {
      prefetch<lit>(v, r.at, ahead);
    } else {
      std::uint8_t away[lanes];
      if (all_away(v, at, alive, away)) {
        now.carried = now.carried & ~r.alive;
        skip(v, r, away);
        now.left = samples;
        alive = bits(r.alive);
        continue;
      }
    }
    f8 until = t1;
    now.partial = none;
    if (any) {
      cubic const c = cubic_between(r, corners_at(v, at), t1, visible, now.carried, now.last);
      linear_part const part = next_part<lit>(v, r, c, t1, visible, now, until);
      counts.segments += static_cast<unsigned>(__builtin_popcount(bits(visible)));
      add_part<lit>(v, r, part, visible, sum);
      now.last = choose(visible, part.last, now.last);
    }
    // those that have left the slab keep theirs
    now.carried = choose(r.alive & ~waiting, visible, now.carried);
    r.t = until;
    r.alive = r.alive & (until < r.end) & (sum.transparency > all(v.least_transparency));
    mask go = r.alive & ~now.partial;
    unsigned const left = bits(r.alive);
    if (lit && v.light_samples > 1) {
      // Light costs more than waiting: cells are entered together.
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
    advance(v, r, go);
  }
  if (whole)
    keep(r, sum, now.carried, now.last, state);
  else
    leave_slab(v, r, finish, worked, sum, now.carried, now.last, state);
}
