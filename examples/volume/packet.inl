// Eight rays through the volume, and their light.

SKEL_INLINE f8 square_root(f8 a) {
  alignas(32) float r[lanes];
  store(r, a);
  for (float& x : r) x = __builtin_sqrtf(x);
  return load<f8>(r);
}

SKEL_INLINE f8 integer_power(f8 x, int n) {
  f8 r = all(1.0F);
  for (; n > 0; n >>= 1, x = x * x)
    if ((n & 1) != 0) r = r * x;
  return r;
}

/// The gradient of the scalar in the middle of the cell's part, from those at the corners, for lanes of `use`.
SKEL_INLINE void gradient(volume_view const& v, rays const& r, f8 t, unsigned use, f8 (&g)[3]) {
  typedef float four __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  alignas(32) float x[lanes], y[lanes], z[lanes], out[3][lanes] = {};
  alignas(32) int at[lanes];
  store(x, place(r.axis[0], t));
  store(y, place(r.axis[1], t));
  store(z, place(r.axis[2], t));
  store(at, r.at);
  for (; use != 0; use &= use - 1) {
    int const l = __builtin_ctz(use);
    float const* const corner = v.gradients + 4 * static_cast<std::ptrdiff_t>(at[l]);
    four row[4];
    for (int i = 0; i < 4; ++i) {
      float const* const from = corner + 4 * (static_cast<std::ptrdiff_t>(i & 1) * v.stride[1] +
                                              static_cast<std::ptrdiff_t>(i >> 1) * v.stride[2]);
      four const a = load<four>(from), b = load<four>(from + 4);
      row[i] = a + x[l] * (b - a);
    }
    four const low = row[0] + y[l] * (row[1] - row[0]), high = row[2] + y[l] * (row[3] - row[2]);
    four const mean = low + z[l] * (high - low);
    for (int d = 0; d < 3; ++d) out[d][l] = mean[d];
  }
  for (int d = 0; d < 3; ++d) g[d] = load<f8>(out[d]);
}

/// Lambert's and Phong's (with Blinn's halfway vector) light on level surfaces, both of whose sides are the same.
/// Where the scalar does not change there is no surface, and the colour is the mapping's own.
SKEL_INLINE void shade(volume_view const& v, rays const& r, f8 t, mask use, surroundings& s) {
  f8 g[3];
  gradient(v, r, t, bits(use), g);
  f8 const square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
  mask const surface = square > all(1e-20F);
  f8 const inverse = all(1.0F) / square_root(choose(surface, square, all(1.0F)));
  f8 to_light = all(0.0F), to_halfway = all(0.0F);
  f8 halfway[3], length = all(0.0F);
  for (int d = 0; d < 3; ++d) {
    f8 const eye = -r.axis[d].direction;
    f8 const light = v.light_from_eye ? eye : all(v.light[d]);
    halfway[d] = light + eye;
    length = length + halfway[d] * halfway[d];
    to_light = to_light + g[d] * light;
    to_halfway = to_halfway + g[d] * halfway[d];
  }
  f8 const diffuse = min(absolute(to_light * inverse), all(1.0F));
  f8 const glance = min(absolute(to_halfway * inverse) / square_root(max(length, all(1e-12F))), all(1.0F));
  s.shade = choose(surface, all(v.ambient) + all(v.diffuse) * diffuse, all(1.0F));
  s.shine = where(surface, all(v.specular) * integer_power(glance, v.shininess));
}

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

SKEL_INLINE bool all_away(std::uint8_t const (&marks)[lanes], unsigned alive) {
  for (int l = 0; l < lanes; ++l)
    if ((alive >> l & 1U) != 0 && (marks[l] == 0 || marks[l] == visible_cell)) return false;
  return true;
}

template <bool lit>
void integrate_packet(volume_view const& v, packet const& p, float (*out)[tile_pixels], work_counts& counts) {
  accumulated sum{{all(0.0F), all(0.0F), all(0.0F)}, all(1.0F)};
  rays r;
  begin(v, p, r);
  surroundings s{all(1.0F), all(0.0F), all(1.0F), {all(v.fog[0]), all(v.fog[1]), all(v.fog[2])}};
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
      f8 const middle = (r.t + t1) * all(0.5F);
      if constexpr (lit) shade(v, r, middle, visible, s);
      if (v.fog_density > 0) s.fog = fading((r.before + middle) * all(v.fog_density));
      add_cell(v, c, t1 - r.t, visible, s, sum, counts);
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
