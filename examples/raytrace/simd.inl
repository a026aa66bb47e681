// Eight floats, compiled for the instruction set of the including file, see kernel.hpp.

#if defined(__AVX2__)
struct f8 {
  __m256 v;
};
SKEL_RT_INLINE f8 load(float const* p) { return {_mm256_load_ps(p)}; }
SKEL_RT_INLINE f8 all(float x) { return {_mm256_set1_ps(x)}; }
SKEL_RT_INLINE void store(float* p, f8 a) { _mm256_store_ps(p, a.v); }
SKEL_RT_INLINE f8 operator+(f8 a, f8 b) { return {_mm256_add_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 operator-(f8 a, f8 b) { return {_mm256_sub_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 operator*(f8 a, f8 b) { return {_mm256_mul_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 operator/(f8 a, f8 b) { return {_mm256_div_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 min(f8 a, f8 b) { return {_mm256_min_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 max(f8 a, f8 b) { return {_mm256_max_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 square_root(f8 a) { return {_mm256_sqrt_ps(a.v)}; }
SKEL_RT_INLINE f8 operator>(f8 a, f8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)}; }
SKEL_RT_INLINE f8 operator<=(f8 a, f8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
SKEL_RT_INLINE f8 operator>=(f8 a, f8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)}; }
SKEL_RT_INLINE f8 operator&(f8 a, f8 b) { return {_mm256_and_ps(a.v, b.v)}; }
SKEL_RT_INLINE f8 choose(f8 mask, f8 a, f8 b) { return {_mm256_blendv_ps(b.v, a.v, mask.v)}; }
SKEL_RT_INLINE unsigned bits(f8 mask) { return static_cast<unsigned>(_mm256_movemask_ps(mask.v)); }
/// a * b - c, for box tests only: boxes are padded, so its rounding may differ between processors.
SKEL_RT_INLINE f8 loose_multiply_subtract(f8 a, f8 b, f8 c) { return {_mm256_fmsub_ps(a.v, b.v, c.v)}; }
#else
// Comparisons give 1 and 0 here; masks are only combined, counted and used for selection.
struct f8 {
  float v[8];
};
#define SKEL_RT_EACH(expression)                     \
  f8 r;                                              \
  for (int i = 0; i < 8; ++i) r.v[i] = (expression); \
  return r
SKEL_RT_INLINE f8 load(float const* p) { SKEL_RT_EACH(p[i]); }
SKEL_RT_INLINE f8 all(float x) { SKEL_RT_EACH(x); }
SKEL_RT_INLINE void store(float* p, f8 a) {
  for (int i = 0; i < 8; ++i) p[i] = a.v[i];
}
SKEL_RT_INLINE f8 operator+(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] + b.v[i]); }
SKEL_RT_INLINE f8 operator-(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] - b.v[i]); }
SKEL_RT_INLINE f8 operator*(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] * b.v[i]); }
SKEL_RT_INLINE f8 operator/(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] / b.v[i]); }
SKEL_RT_INLINE f8 min(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] < b.v[i] ? a.v[i] : b.v[i]); }
SKEL_RT_INLINE f8 max(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }
SKEL_RT_INLINE f8 square_root(f8 a) { SKEL_RT_EACH(__builtin_sqrtf(a.v[i])); }
SKEL_RT_INLINE f8 operator>(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] > b.v[i] ? 1.0F : 0.0F); }
SKEL_RT_INLINE f8 operator<=(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] <= b.v[i] ? 1.0F : 0.0F); }
SKEL_RT_INLINE f8 operator>=(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] >= b.v[i] ? 1.0F : 0.0F); }
SKEL_RT_INLINE f8 operator&(f8 a, f8 b) { SKEL_RT_EACH(a.v[i] * b.v[i]); }
SKEL_RT_INLINE f8 choose(f8 mask, f8 a, f8 b) { SKEL_RT_EACH(mask.v[i] != 0 ? a.v[i] : b.v[i]); }
SKEL_RT_INLINE unsigned bits(f8 mask) {
  unsigned r = 0;
  for (unsigned i = 0; i < 8; ++i) r |= (mask.v[i] != 0 ? 1U : 0U) << i;
  return r;
}
SKEL_RT_INLINE f8 loose_multiply_subtract(f8 a, f8 b, f8 c) { return a * b - c; }
#undef SKEL_RT_EACH
#endif

struct f8x3 {
  f8 x, y, z;
};
SKEL_RT_INLINE f8x3 all(vec3f a) { return {all(a.x), all(a.y), all(a.z)}; }
SKEL_RT_INLINE f8 dot(f8x3 const& a, f8x3 const& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
SKEL_RT_INLINE f8x3 load(float const (*p)[8]) { return {load(p[0]), load(p[1]), load(p[2])}; }
SKEL_RT_INLINE f8x3 operator+(f8x3 const& a, f8x3 const& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
SKEL_RT_INLINE f8x3 operator-(f8x3 const& a, f8x3 const& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
SKEL_RT_INLINE f8x3 operator*(f8 s, f8x3 const& a) { return {s * a.x, s * a.y, s * a.z}; }
