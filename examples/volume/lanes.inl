// Eight numbers at once, in the compiler's vector types: one of 32 bytes with AVX2, two of 16 without.
#define SKEL_INLINE [[gnu::always_inline]] static inline

#if defined(__AVX2__)
constexpr int parts = 1;
#else
constexpr int parts = 2;
#endif
constexpr int lanes = 8;
constexpr int part_lanes = lanes / parts;
typedef float floats __attribute__((vector_size(32 / parts)));       // NOLINT(modernize-use-using)
typedef std::int32_t ints __attribute__((vector_size(32 / parts)));  // NOLINT(modernize-use-using)

struct f8 {
  floats v[parts];
};
struct i8 {
  ints v[parts];
};
struct mask {  // all bits of a lane, or none
  ints v[parts];
};

#define SKEL_EACH(type, expression)                    \
  type r;                                              \
  for (int p = 0; p < parts; ++p) r.v[p] = expression; \
  return r

SKEL_INLINE f8 operator+(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] + b.v[p]); }
SKEL_INLINE f8 operator-(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] - b.v[p]); }
SKEL_INLINE f8 operator*(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] * b.v[p]); }
SKEL_INLINE f8 operator/(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] / b.v[p]); }
SKEL_INLINE f8 operator-(f8 a) { SKEL_EACH(f8, -a.v[p]); }
SKEL_INLINE i8 operator+(i8 a, i8 b) { SKEL_EACH(i8, a.v[p] + b.v[p]); }
SKEL_INLINE i8 operator-(i8 a, i8 b) { SKEL_EACH(i8, a.v[p] - b.v[p]); }
SKEL_INLINE mask operator<(f8 a, f8 b) { SKEL_EACH(mask, a.v[p] < b.v[p]); }
SKEL_INLINE mask operator<=(f8 a, f8 b) { SKEL_EACH(mask, a.v[p] <= b.v[p]); }
SKEL_INLINE mask operator>(f8 a, f8 b) { SKEL_EACH(mask, a.v[p] > b.v[p]); }
SKEL_INLINE mask operator>=(f8 a, f8 b) { SKEL_EACH(mask, a.v[p] >= b.v[p]); }
SKEL_INLINE mask operator==(i8 a, i8 b) { SKEL_EACH(mask, a.v[p] == b.v[p]); }
SKEL_INLINE mask operator&(mask a, mask b) { SKEL_EACH(mask, a.v[p] & b.v[p]); }
SKEL_INLINE mask operator|(mask a, mask b) { SKEL_EACH(mask, a.v[p] | b.v[p]); }
SKEL_INLINE mask operator~(mask a) { SKEL_EACH(mask, ~a.v[p]); }
#if defined(__AVX2__)
SKEL_INLINE f8 choose(mask m, f8 a, f8 b) {
  return {{(floats)_mm256_blendv_ps((__m256)b.v[0], (__m256)a.v[0], (__m256)m.v[0])}};
}
#else
SKEL_INLINE f8 choose(mask m, f8 a, f8 b) {
  SKEL_EACH(f8, (floats)((m.v[p] & (ints)a.v[p]) | (~m.v[p] & (ints)b.v[p])));
}
#endif
SKEL_INLINE i8 choose(mask m, i8 a, i8 b) {
  f8 const r = choose(m, __builtin_bit_cast(f8, a), __builtin_bit_cast(f8, b));
  return __builtin_bit_cast(i8, r);
}
SKEL_INLINE mask choose(mask m, mask a, mask b) { return (m & a) | (~m & b); }
SKEL_INLINE f8 where(mask m, f8 a) { SKEL_EACH(f8, (floats)((ints)a.v[p] & m.v[p])); }  // else 0
SKEL_INLINE i8 where(mask m, i8 a) { SKEL_EACH(i8, a.v[p] & m.v[p]); }
SKEL_INLINE i8 count(mask m) { SKEL_EACH(i8, -m.v[p]); }  // 1 or 0
// a < b ? a : b and a > b ? a : b, which the compiler does not always make one instruction of
#if defined(__AVX2__)
SKEL_INLINE f8 min(f8 a, f8 b) { return {{(floats)_mm256_min_ps((__m256)a.v[0], (__m256)b.v[0])}}; }
SKEL_INLINE f8 max(f8 a, f8 b) { return {{(floats)_mm256_max_ps((__m256)a.v[0], (__m256)b.v[0])}}; }
#elif defined(__SSE2__)
SKEL_INLINE f8 min(f8 a, f8 b) { SKEL_EACH(f8, (floats)_mm_min_ps((__m128)a.v[p], (__m128)b.v[p])); }
SKEL_INLINE f8 max(f8 a, f8 b) { SKEL_EACH(f8, (floats)_mm_max_ps((__m128)a.v[p], (__m128)b.v[p])); }
#else
SKEL_INLINE f8 min(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] < b.v[p] ? a.v[p] : b.v[p]); }
SKEL_INLINE f8 max(f8 a, f8 b) { SKEL_EACH(f8, a.v[p] > b.v[p] ? a.v[p] : b.v[p]); }
#endif
SKEL_INLINE f8 absolute(f8 a) { SKEL_EACH(f8, (floats)((ints)a.v[p] & 0x7fffffff)); }
SKEL_INLINE f8 all(float x) { SKEL_EACH(f8, x - floats{}); }
SKEL_INLINE i8 all(int x) { SKEL_EACH(i8, ints{} + x); }
SKEL_INLINE f8 to_float(i8 a) { SKEL_EACH(f8, __builtin_convertvector(a.v[p], floats)); }
SKEL_INLINE i8 truncated(f8 a) { SKEL_EACH(i8, __builtin_convertvector(a.v[p], ints)); }
SKEL_INLINE f8 shifted_exponent(f8 a, i8 n) {  // a 2^n
  SKEL_EACH(f8, (floats)((ints)a.v[p] + (n.v[p] << 23)));
}
SKEL_INLINE i8 shifted_right(i8 a, int n) { SKEL_EACH(i8, a.v[p] >> n); }
#undef SKEL_EACH

template <class To, class From>
SKEL_INLINE To load(From const* from) {
  To r;
  __builtin_memcpy(&r, from, sizeof r);
  return r;
}
template <class To, class From>
SKEL_INLINE void store(To* to, From const& from) {
  __builtin_memcpy(to, &from, sizeof from);
}

/// To memory indeed: the compiler would take the numbers out of the register one by one.
SKEL_INLINE void store_for_indices(int (&to)[lanes], i8 from) {
  store(to, from);
  __asm__("" : "+m"(to));
}

/// A bit per lane.
SKEL_INLINE unsigned bits(mask m) {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)m.v[0]));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_ps((__m128)m.v[0]) | _mm_movemask_ps((__m128)m.v[1]) << 4);
#else
  unsigned r = 0;
  for (int p = 0; p < parts; ++p)
    for (int l = 0; l < part_lanes; ++l) r |= (m.v[p][l] != 0 ? 1U : 0U) << (p * part_lanes + l);
  return r;
#endif
}

/// table[index modulo 8].
SKEL_INLINE f8 look_up(float const* table, i8 index) {
#if defined(__AVX2__)
  return {{(floats)_mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index.v[0])}};
#else
  alignas(32) int at[lanes];
  alignas(32) float r[lanes];
  store(at, index);
  for (int l = 0; l < lanes; ++l) r[l] = table[at[l] & 7];
  return load<f8>(r);
#endif
}

/// The pairs base[at[l]], base[at[l] + 1].
SKEL_INLINE void load_pairs(float const* base, int const* at, f8& first, f8& second) {
#if defined(__SSE2__)
  __m128 quads[4];
  for (int q = 0; q < 4; ++q) {
    __m128 const low = _mm_castsi128_ps(_mm_loadu_si64(base + at[2 * q]));
    quads[q] = _mm_loadh_pi(low, reinterpret_cast<__m64 const*>(base + at[2 * q + 1]));
  }
#if defined(__AVX2__)
  __m256 const a = _mm256_insertf128_ps(_mm256_castps128_ps256(quads[0]), quads[2], 1);
  __m256 const b = _mm256_insertf128_ps(_mm256_castps128_ps256(quads[1]), quads[3], 1);
  first.v[0] = (floats)_mm256_shuffle_ps(a, b, 0x88);
  second.v[0] = (floats)_mm256_shuffle_ps(a, b, 0xdd);
#else
  for (int p = 0; p < 2; ++p) {
    first.v[p] = (floats)_mm_shuffle_ps(quads[2 * p], quads[2 * p + 1], 0x88);
    second.v[p] = (floats)_mm_shuffle_ps(quads[2 * p], quads[2 * p + 1], 0xdd);
  }
#endif
#else
  alignas(32) float a[lanes], b[lanes];
  for (int l = 0; l < lanes; ++l) {
    a[l] = base[at[l]];
    b[l] = base[at[l] + 1];
  }
  first = load<f8>(a);
  second = load<f8>(b);
#endif
}

/// rows[row], each of four floats: column c of all rows in out[c].
SKEL_INLINE void load_rows(float const* rows, i8 row, f8 (&out)[4]) {
  alignas(32) int at[lanes];
  store_for_indices(at, row + row + row + row);
#if defined(__AVX2__)
  __m256 r[4];
  for (int i = 0; i < 4; ++i)
    r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows + at[i])),
                                _mm_loadu_ps(rows + at[i + 4]), 1);
  __m256 const a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  __m256 const c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  out[0].v[0] = (floats)_mm256_shuffle_ps(a, c, 0x44);
  out[1].v[0] = (floats)_mm256_shuffle_ps(a, c, 0xee);
  out[2].v[0] = (floats)_mm256_shuffle_ps(b, d, 0x44);
  out[3].v[0] = (floats)_mm256_shuffle_ps(b, d, 0xee);
#else
  alignas(32) float columns[4][lanes];
  for (int l = 0; l < lanes; ++l)
    for (int c = 0; c < 4; ++c) columns[c][l] = rows[at[l] + c];
  for (int c = 0; c < 4; ++c) out[c] = load<f8>(columns[c]);
#endif
}

/// 2^x for x from -126 to 126: relative error below 3e-7 (Taylor's polynomial of degree 6 on [-1/2, 1/2]).
SKEL_INLINE f8 power_of_two(f8 x) {
  f8 const rounder = all(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  f8 const whole = (x + rounder) - rounder;
  f8 const f = x - whole;
  f8 p = all(1.5403530e-4F);
  p = p * f + all(1.3333558e-3F);
  p = p * f + all(9.6181291e-3F);
  p = p * f + all(5.5504109e-2F);
  p = p * f + all(2.4022651e-1F);
  p = p * f + all(6.9314718e-1F);
  p = p * f + all(1.0F);
  return shifted_exponent(p, truncated(whole));
}

/// e^x for x <= 87.
SKEL_INLINE f8 exponential(f8 x) { return power_of_two(max(x * all(1.44269504F), all(-126.0F))); }
