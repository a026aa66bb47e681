// Light on the volume, and attenuation between it and the eye.

SKEL_INLINE vfloat square_root(vfloat a) {
#if defined(SKEL_AVX512)
  return cooked(_mm512_sqrt_ps(raw(a)));
#else
  alignas(64) float r[lanes];
  store(r, a);
  for (float& x : r) x = __builtin_sqrtf(x);
  return load<vfloat>(r);
#endif
}

SKEL_INLINE vfloat integer_power(vfloat x, int n) {
  vfloat r = all(1.0F);
  for (; n > 0; n >>= 1, x = x * x)
    if ((n & 1) != 0) r = r * x;
  return r;
}

/// Computes the gradient of the scalar at distance t from those at the cell's corners, for lanes of
/// `use`. Processes one ray at a time, with the gradients at both ends of an edge along x together.
SKEL_INLINE void gradient(volume_view const& v, rays const& r, vfloat t, unsigned use, vfloat (&g)[3]) {
  typedef float four __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  alignas(64) float place_in[3][lanes], out[lanes][4] = {}, ends[8];
  alignas(64) int at[lanes];
  for (int d = 0; d < 3; ++d) store(place_in[d], place(r.axis[d], t));
  store(at, r.at);
  for (; use != 0; use &= use - 1) {
    int const l = __builtin_ctz(use);
    float const* const corner = v.gradients + 4 * static_cast<std::ptrdiff_t>(at[l]);
    eight edge[4];
    for (int i = 0; i < 4; ++i)
      edge[i] = load<eight>(corner + 4 * (static_cast<std::ptrdiff_t>(i & 1) * v.stride[1] +
                                          static_cast<std::ptrdiff_t>(i >> 1) * v.stride[2]));
    eight const y = all_eight(place_in[1][l]), z = all_eight(place_in[2][l]);
    eight const low = edge[0] + y * (edge[1] - edge[0]), high = edge[2] + y * (edge[3] - edge[2]);
    store(ends, low + z * (high - low));
    four const a = load<four>(ends), b = load<four>(ends + 4);
    four const mean = a + place_in[0][l] * (b - a);
    __builtin_memcpy(out[l], &mean, sizeof mean);
  }
  alignas(64) int each[lanes];
  for (int l = 0; l < lanes; ++l) each[l] = l;
  vfloat columns[4];
  load_rows(out[0], load<vint>(each), columns);
  for (int d = 0; d < 3; ++d) g[d] = columns[d];
}

/// Lambert and Phong shading (with Blinn's halfway vector) of level surfaces, both of whose sides
/// are alike. Without a gradient there is no surface, and the mapping's colour is used.
SKEL_INLINE void shade(volume_view const& v, rays const& r, vfloat t, mask use, vfloat& factor,
                       vfloat& shine) {
  vfloat g[3];
  gradient(v, r, t, bits(use), g);
  vfloat const square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
  mask const surface = square > all(1e-20F);
  vfloat const inverse = all(1.0F) / square_root(choose(surface, square, all(1.0F)));
  vfloat to_light = all(0.0F), to_halfway = all(0.0F);
  vfloat halfway[3], length = all(0.0F);
  for (int d = 0; d < 3; ++d) {
    vfloat const eye = -r.axis[d].direction;
    vfloat const light = v.light_from_eye ? eye : all(v.light[d]);
    halfway[d] = light + eye;
    length = length + halfway[d] * halfway[d];
    to_light = to_light + g[d] * light;
    to_halfway = to_halfway + g[d] * halfway[d];
  }
  vfloat const diffuse = min(absolute(to_light * inverse), all(1.0F));
  vfloat const glance =
      min(absolute(to_halfway * inverse) / square_root(max(length, all(1e-12F))), all(1.0F));
  factor = choose(surface, all(v.ambient) + all(v.diffuse) * diffuse, all(1.0F));
  shine = where(surface, all(v.specular) * integer_power(glance, v.shininess));
}

/// Changes a part's colour: multiplies it by shade and adds a share of the opacity.
struct surroundings {
  vfloat shade;
  vfloat added[3];
};

/// Computes light and attenuation at distance t, for lanes of `use`.
template <bool lit>
SKEL_INLINE surroundings surroundings_at(volume_view const& v, rays const& r, vfloat t, mask use) {
  vfloat factor = all(1.0F), shine = all(0.0F);
  if constexpr (lit) shade(v, r, t, use, factor, shine);
  if (!(v.fog_density > 0)) return {factor, {shine, shine, shine}};
  vfloat const kept = exponential((r.before + t) * all(-v.fog_density)), lost = all(1.0F) - kept;
  vfloat const own = kept * shine;
  return {factor * kept,
          {own + lost * all(v.fog[0]), own + lost * all(v.fog[1]), own + lost * all(v.fog[2])}};
}
