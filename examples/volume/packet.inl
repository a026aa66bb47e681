// Eight rays through the volume.

/// The cells' marks of the living lanes: what they are away from anything visible, and which are visible.
SKEL_INLINE mask visible_lanes(volume_view const& v, rays const& r, std::uint8_t (&marks)[lanes]) {
  alignas(32) int at[lanes];
  alignas(32) int shows[lanes];
  store(at, r.at);
  for (int l = 0; l < lanes; ++l) {
    marks[l] = v.cells[at[l]];
    shows[l] = marks[l] == visible_cell ? -1 : 0;
  }
  return load<mask>(shows) & r.alive;
}

/// Whether a jump pays: over less than two blocks, steps from cell to cell take no longer.
SKEL_INLINE bool all_away(std::uint8_t const (&marks)[lanes], unsigned alive) {
  for (int l = 0; l < lanes; ++l)
    if ((alive >> l & 1U) != 0 && (marks[l] < 2 || marks[l] == visible_cell)) return false;
  return true;
}

template <bool lit>
void integrate_packet(volume_view const& v, packet const& p, packet_state& state, work_counts& counts) {
  accumulated sum{{all(0.0F), all(0.0F), all(0.0F)}, all(1.0F)};
  rays r;
  begin(v, p, r);
  f8 const finish = r.end;
  mask carried = r.alive & ~r.alive;  // lanes where `last` is the scalar where the ray is
  f8 last = all(0.0F);
  bool const whole = is_whole(v);
  if (!whole) {
    if (state.begun == 0) keep(r, sum, carried, last, state);
    resume(state, r, sum, carried, last);
    hold_to_slab(v, r);
    set_cells(v, r);
  }
  unsigned const worked = bits(r.alive);
  std::uint8_t marks[lanes];
  for (unsigned alive = worked; alive != 0; alive = bits(r.alive)) {
    f8 const t1 = leaving(r);
    mask const visible = visible_lanes(v, r, marks) & (t1 > r.t);
    if (bits(visible) == 0 && all_away(marks, alive)) {
      carried = carried & ~r.alive;
      skip(v, r, marks);
      continue;
    }
    counts.cells += static_cast<unsigned>(__builtin_popcount(alive));
    if (bits(visible) != 0) {
      cubic const c = cubic_between(v, r, t1, visible, carried, last);
      add_cell<lit>(v, r, c, t1 - r.t, visible, sum, counts);
      last = choose(visible, c.last, last);
    }
    carried = choose(r.alive, visible, carried);  // those that have left the slab keep theirs
    r.t = t1;
    r.alive = r.alive & (t1 < r.end) & (sum.transparency > all(v.least_transparency));
    advance(v, r, r.alive);
  }
  if (whole)
    keep(r, sum, carried, last, state);
  else
    leave_slab(v, r, finish, worked, sum, carried, last, state);
}
