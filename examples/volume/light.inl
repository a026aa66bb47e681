// Light on the volume, and what the air between it and the eye does.

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

/// The gradient of the scalar at distance t, from those at the cell's corners, for lanes of `use`. One ray at
/// a time, the gradients at both ends of an edge along x in one go.
SKEL_INLINE void gradient(volume_view const& v, rays const& r, f8 t, unsigned use, f8 (&g)[3]) {
  typedef float four __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  alignas(32) float place_in[3][lanes], out[lanes][4] = {}, ends[lanes];
  alignas(32) int at[lanes];
  for (int d = 0; d < 3; ++d) store(place_in[d], place(r.axis[d], t));
  store(at, r.at);
  for (; use != 0; use &= use - 1) {
    int const l = __builtin_ctz(use);
    float const* const corner = v.gradients + 4 * static_cast<std::ptrdiff_t>(at[l]);
    f8 edge[4];
    for (int i = 0; i < 4; ++i)
      edge[i] = load<f8>(corner + 4 * (static_cast<std::ptrdiff_t>(i & 1) * v.stride[1] +
                                       static_cast<std::ptrdiff_t>(i >> 1) * v.stride[2]));
    f8 const y = all(place_in[1][l]), z = all(place_in[2][l]);
    f8 const low = edge[0] + y * (edge[1] - edge[0]), high = edge[2] + y * (edge[3] - edge[2]);
    store(ends, low + z * (high - low));
    four const a = load<four>(ends), b = load<four>(ends + 4);
    four const mean = a + place_in[0][l] * (b - a);
    __builtin_memcpy(out[l], &mean, sizeof mean);
  }
  alignas(32) constexpr int each[lanes] = {0, 1, 2, 3, 4, 5, 6, 7};
  f8 columns[4];
  load_rows(out[0], load<i8>(each), columns);
  for (int d = 0; d < 3; ++d) g[d] = columns[d];
}

/// Lambert's and Phong's (with Blinn's halfway vector) light on level surfaces, both of whose sides are the
/// same. Where the scalar does not change there is no surface, and the colour is the mapping's own.
SKEL_INLINE void shade(volume_view const& v, rays const& r, f8 t, mask use, f8& factor, f8& shine) {
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
  factor = choose(surface, all(v.ambient) + all(v.diffuse) * diffuse, all(1.0F));
  shine = where(surface, all(v.specular) * integer_power(glance, v.shininess));
}

/// What becomes of colour on the way: it is multiplied by shade, and opacity adds more.
struct surroundings {
  f8 shade;
  f8 added[3];
};

/// Light and attenuation at distance t, for lanes of `use`.
template <bool lit>
SKEL_INLINE surroundings surroundings_at(volume_view const& v, rays const& r, f8 t, mask use) {
  f8 factor = all(1.0F), shine = all(0.0F);
  if constexpr (lit) shade(v, r, t, use, factor, shine);
  if (!(v.fog_density > 0)) return {factor, {shine, shine, shine}};
  f8 const kept = exponential((r.before + t) * all(-v.fog_density)), lost = all(1.0F) - kept;
  f8 const own = kept * shine;
  return {factor * kept,
          {own + lost * all(v.fog[0]), own + lost * all(v.fog[1]), own + lost * all(v.fog[2])}};
}
