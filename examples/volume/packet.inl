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
void integrate_packet(volume_view const& v, packet const& p, float (*out)[tile_pixels], work_counts& counts) {
  accumulated sum{{all(0.0F), all(0.0F), all(0.0F)}, all(1.0F)};
  rays r;
  begin(v, p, r);
  bool carried = false;  // whether `last` is the scalar where the rays are
  f8 last = all(0.0F);
  std::uint8_t marks[lanes];
  for (unsigned alive = bits(r.alive); alive != 0; alive = bits(r.alive)) {
    mask const visible = visible_lanes(v, r, marks);
    if (bits(visible) == 0 && all_away(marks, alive)) {
      skip(v, r, marks);
      carried = false;
      continue;
    }
    f8 const t1 = leaving(r);
    counts.cells += static_cast<unsigned>(__builtin_popcount(alive));
    if (bits(visible) != 0) {
      cubic const c = cubic_between(v, r, t1, carried, last);
      add_cell<lit>(v, r, c, t1 - r.t, visible, sum, counts);
      last = c.last;
    }
    carried = bits(visible) != 0;
    r.t = t1;
    r.alive = r.alive & (t1 < r.end) & (sum.transparency > all(v.least_transparency));
    advance(v, r, r.alive);
  }
  for (int c = 0; c < 3; ++c) store(out[c], sum.color[c]);
  store(out[3], all(1.0F) - sum.transparency);
}
