// Vectors with one number per ray of a packet, in the compiler's vector types: sixteen in one
// register with AVX-512; eight in one register with AVX2, or in two of 16 bytes without.
#define SKEL_INLINE [[gnu::always_inline]] static inline

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define SKEL_AVX512 1
#if defined(SKEL_VOLUME_GATHERS)
#define SKEL_GATHERS 1
#endif
constexpr int lanes = 16, parts = 1;
#elif defined(__AVX2__)
constexpr int lanes = 8, parts = 1;
#else
constexpr int lanes = 8, parts = 2;
#endif
constexpr int part_lanes = lanes / parts;
typedef float floats __attribute__((vector_size(4 * part_lanes)));       // NOLINT(modernize-use-using)
typedef std::int32_t ints __attribute__((vector_size(4 * part_lanes)));  // NOLINT(modernize-use-using)
typedef std::uint32_t unsigned_ints
    __attribute__((vector_size(4 * part_lanes)));  // NOLINT(modernize-use-using)

struct vfloat {
  floats v[parts];
};
struct vint {
  ints v[parts];
};
#if defined(SKEL_AVX512)
struct mask {  // one bit per lane
  __mmask16 v;
};
#else
struct mask {  // all bits of a lane, or none
  ints v[parts];
};
#endif

#define SKEL_EACH(type, expression)                    \
  type r;                                              \
  for (int p = 0; p < parts; ++p) r.v[p] = expression; \
  return r

SKEL_INLINE vfloat operator+(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] + b.v[p]); }
SKEL_INLINE vfloat operator-(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] - b.v[p]); }
SKEL_INLINE vfloat operator*(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] * b.v[p]); }
SKEL_INLINE vfloat operator/(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] / b.v[p]); }
SKEL_INLINE vfloat operator-(vfloat a) { SKEL_EACH(vfloat, -a.v[p]); }
SKEL_INLINE vint operator+(vint a, vint b) { SKEL_EACH(vint, a.v[p] + b.v[p]); }
SKEL_INLINE vint operator-(vint a, vint b) { SKEL_EACH(vint, a.v[p] - b.v[p]); }
#if defined(SKEL_AVX512)
SKEL_INLINE __m512 raw(vfloat a) { return (__m512)a.v[0]; }
SKEL_INLINE __m512i raw(vint a) { return (__m512i)a.v[0]; }
SKEL_INLINE vfloat cooked(__m512 a) { return {{(floats)a}}; }
SKEL_INLINE vint cooked(__m512i a) { return {{(ints)a}}; }
SKEL_INLINE mask operator<(vfloat a, vfloat b) { return {_mm512_cmp_ps_mask(raw(a), raw(b), _CMP_LT_OS)}; }
SKEL_INLINE mask operator<=(vfloat a, vfloat b) { return {_mm512_cmp_ps_mask(raw(a), raw(b), _CMP_LE_OS)}; }
SKEL_INLINE mask operator>(vfloat a, vfloat b) { return b < a; }
SKEL_INLINE mask operator>=(vfloat a, vfloat b) { return b <= a; }
SKEL_INLINE mask operator<(vint a, vint b) { return {_mm512_cmplt_epi32_mask(raw(a), raw(b))}; }
SKEL_INLINE mask operator==(vint a, vint b) { return {_mm512_cmpeq_epi32_mask(raw(a), raw(b))}; }
SKEL_INLINE mask operator&(mask a, mask b) { return {_kand_mask16(a.v, b.v)}; }
SKEL_INLINE mask operator|(mask a, mask b) { return {_kor_mask16(a.v, b.v)}; }
SKEL_INLINE mask operator~(mask a) { return {_knot_mask16(a.v)}; }
SKEL_INLINE vfloat choose(mask m, vfloat a, vfloat b) {
  return cooked(_mm512_mask_blend_ps(m.v, raw(b), raw(a)));
}
SKEL_INLINE vint choose(mask m, vint a, vint b) {
  return cooked(_mm512_mask_blend_epi32(m.v, raw(b), raw(a)));
}
// m ? a : 0
SKEL_INLINE vfloat where(mask m, vfloat a) { return cooked(_mm512_maskz_mov_ps(m.v, raw(a))); }
SKEL_INLINE vint where(mask m, vint a) { return cooked(_mm512_maskz_mov_epi32(m.v, raw(a))); }
SKEL_INLINE vint count(mask m) { return cooked(_mm512_maskz_set1_epi32(m.v, 1)); }  // 1 or 0
SKEL_INLINE vfloat min(vfloat a, vfloat b) { return cooked(_mm512_min_ps(raw(a), raw(b))); }
SKEL_INLINE vfloat max(vfloat a, vfloat b) { return cooked(_mm512_max_ps(raw(a), raw(b))); }
/// One bit per lane.
SKEL_INLINE unsigned bits(mask m) { return _cvtmask16_u32(m.v); }
SKEL_INLINE mask lanes_of(unsigned set) { return {_cvtu32_mask16(set)}; }
#else
SKEL_INLINE mask operator<(vfloat a, vfloat b) { SKEL_EACH(mask, a.v[p] < b.v[p]); }
SKEL_INLINE mask operator<=(vfloat a, vfloat b) { SKEL_EACH(mask, a.v[p] <= b.v[p]); }
SKEL_INLINE mask operator>(vfloat a, vfloat b) { SKEL_EACH(mask, a.v[p] > b.v[p]); }
SKEL_INLINE mask operator>=(vfloat a, vfloat b) { SKEL_EACH(mask, a.v[p] >= b.v[p]); }
SKEL_INLINE mask operator<(vint a, vint b) { SKEL_EACH(mask, a.v[p] < b.v[p]); }
SKEL_INLINE mask operator==(vint a, vint b) { SKEL_EACH(mask, a.v[p] == b.v[p]); }
SKEL_INLINE mask operator&(mask a, mask b) { SKEL_EACH(mask, a.v[p] & b.v[p]); }
SKEL_INLINE mask operator|(mask a, mask b) { SKEL_EACH(mask, a.v[p] | b.v[p]); }
SKEL_INLINE mask operator~(mask a) { SKEL_EACH(mask, ~a.v[p]); }
#if defined(__AVX2__)
SKEL_INLINE vfloat choose(mask m, vfloat a, vfloat b) {
  return {{(floats)_mm256_blendv_ps((__m256)b.v[0], (__m256)a.v[0], (__m256)m.v[0])}};
}
#else
SKEL_INLINE vfloat choose(mask m, vfloat a, vfloat b) {
  SKEL_EACH(vfloat, (floats)((m.v[p] & (ints)a.v[p]) | (~m.v[p] & (ints)b.v[p])));
}
#endif
SKEL_INLINE vint choose(mask m, vint a, vint b) {
  vfloat const r = choose(m, __builtin_bit_cast(vfloat, a), __builtin_bit_cast(vfloat, b));
  return __builtin_bit_cast(vint, r);
}
// m ? a : 0
SKEL_INLINE vfloat where(mask m, vfloat a) { SKEL_EACH(vfloat, (floats)((ints)a.v[p] & m.v[p])); }
SKEL_INLINE vint where(mask m, vint a) { SKEL_EACH(vint, a.v[p] & m.v[p]); }
SKEL_INLINE vint count(mask m) { SKEL_EACH(vint, -m.v[p]); }  // 1 or 0
// a < b ? a : b and a > b ? a : b, which the compiler does not always turn into one instruction
#if defined(__AVX2__)
SKEL_INLINE vfloat min(vfloat a, vfloat b) {
  return {{(floats)_mm256_min_ps((__m256)a.v[0], (__m256)b.v[0])}};
}
SKEL_INLINE vfloat max(vfloat a, vfloat b) {
  return {{(floats)_mm256_max_ps((__m256)a.v[0], (__m256)b.v[0])}};
}
#elif defined(__SSE2__)
SKEL_INLINE vfloat min(vfloat a, vfloat b) {
  SKEL_EACH(vfloat, (floats)_mm_min_ps((__m128)a.v[p], (__m128)b.v[p]));
}
SKEL_INLINE vfloat max(vfloat a, vfloat b) {
  SKEL_EACH(vfloat, (floats)_mm_max_ps((__m128)a.v[p], (__m128)b.v[p]));
}
#else
SKEL_INLINE vfloat min(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] < b.v[p] ? a.v[p] : b.v[p]); }
SKEL_INLINE vfloat max(vfloat a, vfloat b) { SKEL_EACH(vfloat, a.v[p] > b.v[p] ? a.v[p] : b.v[p]); }
#endif
/// One bit per lane.
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
SKEL_INLINE mask lanes_of(unsigned set) {
  mask r;
  for (int p = 0; p < parts; ++p)
    for (int l = 0; l < part_lanes; ++l) r.v[p][l] = (set >> (p * part_lanes + l) & 1U) != 0 ? -1 : 0;
  return r;
}
#endif
SKEL_INLINE mask choose(mask m, mask a, mask b) { return (m & a) | (~m & b); }
SKEL_INLINE vfloat absolute(vfloat a) { SKEL_EACH(vfloat, (floats)((ints)a.v[p] & 0x7fffffff)); }
SKEL_INLINE vfloat all(float x) { SKEL_EACH(vfloat, x - floats{}); }
SKEL_INLINE vint all(int x) { SKEL_EACH(vint, ints{} + x); }
SKEL_INLINE vfloat to_float(vint a) { SKEL_EACH(vfloat, __builtin_convertvector(a.v[p], floats)); }
SKEL_INLINE vint truncated(vfloat a) { SKEL_EACH(vint, __builtin_convertvector(a.v[p], ints)); }
SKEL_INLINE vfloat shifted_exponent(vfloat a, vint n) {  // a 2^n
  SKEL_EACH(vfloat, (floats)((ints)a.v[p] + (n.v[p] << 23)));
}
SKEL_INLINE vint operator*(vint a, int b) {  // overflow gives unused values
  SKEL_EACH(vint, (ints)((unsigned_ints)a.v[p] * static_cast<unsigned>(b)));
}
SKEL_INLINE vint min(vint a, vint b) { return choose(a < b, a, b); }
SKEL_INLINE vint max(vint a, vint b) { return choose(a < b, b, a); }
SKEL_INLINE vint shifted_left(vint a, int n) { SKEL_EACH(vint, a.v[p] << n); }
SKEL_INLINE vint shifted_right(vint a, int n) { SKEL_EACH(vint, a.v[p] >> n); }
#undef SKEL_EACH

// Eight of them, independent of the number of lanes.
#if defined(SKEL_AVX512)
typedef float eight __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
SKEL_INLINE eight all_eight(float x) { return x - eight{}; }
#else
using eight = vfloat;
SKEL_INLINE eight all_eight(float x) { return all(x); }
#endif

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

/// Forces a store to memory; the compiler would extract the numbers from the register one by one.
SKEL_INLINE void store_for_indices(int (&to)[lanes], vint from) {
  store(to, from);
  __asm__("" : "+m"(to));
}

/// table[index].
SKEL_INLINE vint gather(int const* table, vint index) {
#if defined(SKEL_AVX512)
  return cooked(_mm512_i32gather_epi32(raw(index), table, 4));
#elif defined(__AVX2__)
  return {{(ints)_mm256_i32gather_epi32(table, (__m256i)index.v[0], 4)}};
#else
  alignas(64) int at[lanes];
  store(at, index);
  for (int& i : at) i = table[i];
  return load<vint>(at);
#endif
}
SKEL_INLINE vfloat gather(float const* table, vint index) {
#if defined(SKEL_AVX512)
  return cooked(_mm512_i32gather_ps(raw(index), table, 4));
#elif defined(__AVX2__)
  return {{(floats)_mm256_i32gather_ps(table, (__m256i)index.v[0], 4)}};
#else
  alignas(64) int at[lanes];
  alignas(64) float r[lanes];
  store(at, index);
  for (int l = 0; l < lanes; ++l) r[l] = table[at[l]];
  return load<vfloat>(r);
#endif
}

/// Tests the bits `at` of a table, which must be readable three bytes beyond.
SKEL_INLINE mask bits_at(std::uint8_t const* table, vint at) {
#if defined(SKEL_AVX512)
  __m512i const words = _mm512_i32gather_epi32(raw(shifted_right(at, 3)), table, 1);
  __m512i const bit = _mm512_and_epi32(raw(at), _mm512_set1_epi32(7));
  return {_mm512_test_epi32_mask(words, _mm512_sllv_epi32(_mm512_set1_epi32(1), bit))};
#else
  alignas(64) int index[lanes];
  store(index, at);
  for (int& i : index) i = -(table[i >> 3] >> (i & 7) & 1);
  return load<mask>(index);
#endif
}

/// table[index modulo 8].
SKEL_INLINE vfloat look_up(float const* table, vint index) {
#if defined(SKEL_AVX512)
  __m512 const twice = _mm512_broadcast_f32x8(_mm256_loadu_ps(table));
  return cooked(_mm512_permutexvar_ps(raw(index), twice));
#elif defined(__AVX2__)
  return {{(floats)_mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index.v[0])}};
#else
  alignas(64) int at[lanes];
  alignas(64) float r[lanes];
  store(at, index);
  for (int l = 0; l < lanes; ++l) r[l] = table[at[l] & 7];
  return load<vfloat>(r);
#endif
}

#if defined(SKEL_AVX512)
SKEL_INLINE __m512 four_quads(__m128 a, __m128 b, __m128 c, __m128 d) {
  __m256 const low = _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
  __m256 const high = _mm256_insertf128_ps(_mm256_castps128_ps256(c), d, 1);
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
#endif

#if defined(SKEL_GATHERS)
/// Loads the pairs base[index[l]], base[index[l] + 1].
SKEL_INLINE void gather_pairs(float const* base, __m512i index, vfloat& first, vfloat& second) {
  __m512 const a = _mm512_castpd_ps(_mm512_i32gather_pd(_mm512_castsi512_si256(index), base, 4));
  __m512 const b = _mm512_castpd_ps(_mm512_i32gather_pd(_mm512_extracti64x4_epi64(index, 1), base, 4));
  __m512i const even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  first = cooked(_mm512_permutex2var_ps(a, even, b));
  second = cooked(_mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b));
}
#endif

/// Loads the pairs base[at[l]], base[at[l] + 1].
SKEL_INLINE void load_pairs(float const* base, int const* at, vfloat& first, vfloat& second) {
#if defined(SKEL_GATHERS)
  gather_pairs(base, raw(load<vint>(at)), first, second);
#elif defined(__SSE2__)
  __m128 quads[lanes / 2];
  for (int q = 0; q < lanes / 2; ++q) {
    __m128 const low = _mm_castsi128_ps(_mm_loadu_si64(base + at[2 * q]));
    quads[q] = _mm_loadh_pi(low, reinterpret_cast<__m64 const*>(base + at[2 * q + 1]));
  }
#if defined(SKEL_AVX512)
  __m512 const a = four_quads(quads[0], quads[2], quads[4], quads[6]);
  __m512 const b = four_quads(quads[1], quads[3], quads[5], quads[7]);
  first = cooked(_mm512_shuffle_ps(a, b, 0x88));
  second = cooked(_mm512_shuffle_ps(a, b, 0xdd));
#elif defined(__AVX2__)
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
  alignas(64) float a[lanes], b[lanes];
  for (int l = 0; l < lanes; ++l) {
    a[l] = base[at[l]];
    b[l] = base[at[l] + 1];
  }
  first = load<vfloat>(a);
  second = load<vfloat>(b);
#endif
}

/// Loads rows[row] of four floats each: column c of all rows in out[c].
SKEL_INLINE void load_rows(float const* rows, vint row, vfloat (&out)[4]) {
#if defined(SKEL_GATHERS)
  __m512i const at = raw(shifted_left(row, 2));
  gather_pairs(rows, at, out[0], out[1]);
  gather_pairs(rows + 2, at, out[2], out[3]);
#else
  alignas(64) int at[lanes];
  store_for_indices(at, shifted_left(row, 2));
#if defined(SKEL_AVX512)
  __m512 r[4];
  for (int i = 0; i < 4; ++i)
    r[i] = four_quads(_mm_loadu_ps(rows + at[i]), _mm_loadu_ps(rows + at[i + 4]),
                      _mm_loadu_ps(rows + at[i + 8]), _mm_loadu_ps(rows + at[i + 12]));
  __m512 const a = _mm512_unpacklo_ps(r[0], r[1]), b = _mm512_unpackhi_ps(r[0], r[1]);
  __m512 const c = _mm512_unpacklo_ps(r[2], r[3]), d = _mm512_unpackhi_ps(r[2], r[3]);
  out[0] = cooked(_mm512_shuffle_ps(a, c, 0x44));
  out[1] = cooked(_mm512_shuffle_ps(a, c, 0xee));
  out[2] = cooked(_mm512_shuffle_ps(b, d, 0x44));
  out[3] = cooked(_mm512_shuffle_ps(b, d, 0xee));
#elif defined(__AVX2__)
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
  alignas(64) float columns[4][lanes];
  for (int l = 0; l < lanes; ++l)
    for (int c = 0; c < 4; ++c) columns[c][l] = rows[at[l] + c];
  for (int c = 0; c < 4; ++c) out[c] = load<vfloat>(columns[c]);
#endif
#endif
}

/// 2^x for x from -126 to 126, with a relative error below 3e-7 (Taylor polynomial of degree 6 on
/// [-1/2, 1/2]).
SKEL_INLINE vfloat power_of_two(vfloat x) {
  vfloat const rounder = all(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  vfloat const whole = (x + rounder) - rounder;
  vfloat const f = x - whole;
  vfloat p = all(1.5403530e-4F);
  p = p * f + all(1.3333558e-3F);
  p = p * f + all(9.6181291e-3F);
  p = p * f + all(5.5504109e-2F);
  p = p * f + all(2.4022651e-1F);
  p = p * f + all(6.9314718e-1F);
  p = p * f + all(1.0F);
  return shifted_exponent(p, truncated(whole));
}

/// e^x for x <= 87.
SKEL_INLINE vfloat exponential(vfloat x) { return power_of_two(max(x * all(1.44269504F), all(-126.0F))); }
