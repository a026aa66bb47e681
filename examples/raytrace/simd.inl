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
// Pairs of the compiler's own vectors.
using v4 [[gnu::vector_size(16)]] = float;
using i4 [[gnu::vector_size(16)]] = int;
struct f8 {
  v4 low, high;
};
SKEL_RT_INLINE f8 load(float const* p) {
  f8 r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
SKEL_RT_INLINE f8 all(float x) { return {v4{x, x, x, x}, v4{x, x, x, x}}; }
SKEL_RT_INLINE void store(float* p, f8 a) { __builtin_memcpy(p, &a, sizeof a); }
SKEL_RT_INLINE f8 operator+(f8 a, f8 b) { return {a.low + b.low, a.high + b.high}; }
SKEL_RT_INLINE f8 operator-(f8 a, f8 b) { return {a.low - b.low, a.high - b.high}; }
SKEL_RT_INLINE f8 operator*(f8 a, f8 b) { return {a.low * b.low, a.high * b.high}; }
SKEL_RT_INLINE f8 operator/(f8 a, f8 b) { return {a.low / b.low, a.high / b.high}; }
SKEL_RT_INLINE f8 operator>(f8 a, f8 b) { return {(v4)(a.low > b.low), (v4)(a.high > b.high)}; }
SKEL_RT_INLINE f8 operator<=(f8 a, f8 b) { return {(v4)(a.low <= b.low), (v4)(a.high <= b.high)}; }
SKEL_RT_INLINE f8 operator>=(f8 a, f8 b) { return {(v4)(a.low >= b.low), (v4)(a.high >= b.high)}; }
SKEL_RT_INLINE f8 operator&(f8 a, f8 b) {
  return {(v4)((i4)a.low & (i4)b.low), (v4)((i4)a.high & (i4)b.high)};
}
SKEL_RT_INLINE f8 choose(f8 mask, f8 a, f8 b) {
  return {(v4)(((i4)mask.low & (i4)a.low) | (~(i4)mask.low & (i4)b.low)),
          (v4)(((i4)mask.high & (i4)a.high) | (~(i4)mask.high & (i4)b.high))};
}
SKEL_RT_INLINE f8 min(f8 a, f8 b) { return choose(b > a, a, b); }
SKEL_RT_INLINE f8 max(f8 a, f8 b) { return choose(a > b, a, b); }
SKEL_RT_INLINE f8 square_root(f8 a) {
  for (int i = 0; i < 4; ++i) {
    a.low[i] = __builtin_sqrtf(a.low[i]);
    a.high[i] = __builtin_sqrtf(a.high[i]);
  }
  return a;
}
SKEL_RT_INLINE unsigned bits(f8 mask) {
#if defined(__SSE2__)
  return static_cast<unsigned>(__builtin_ia32_movmskps(mask.low) | __builtin_ia32_movmskps(mask.high) << 4);
#else
  i4 const low = (i4)mask.low & i4{1, 2, 4, 8}, high = (i4)mask.high & i4{16, 32, 64, 128};
  i4 const both = low | high;
  return static_cast<unsigned>(both[0] | both[1] | both[2] | both[3]);
#endif
}
SKEL_RT_INLINE f8 loose_multiply_subtract(f8 a, f8 b, f8 c) { return a * b - c; }
#endif

// Sixteen floats.
struct f16 {
  f8 low, high;
};
SKEL_RT_INLINE f16 load16(float const* p) { return {load(p), load(p + 8)}; }
SKEL_RT_INLINE f16 all16(float x) { return {all(x), all(x)}; }
SKEL_RT_INLINE void store(float* p, f16 a) {
  store(p, a.low);
  store(p + 8, a.high);
}
SKEL_RT_INLINE f16 operator+(f16 a, f16 b) { return {a.low + b.low, a.high + b.high}; }
SKEL_RT_INLINE f16 operator-(f16 a, f16 b) { return {a.low - b.low, a.high - b.high}; }
SKEL_RT_INLINE f16 operator*(f16 a, f16 b) { return {a.low * b.low, a.high * b.high}; }
SKEL_RT_INLINE f16 operator/(f16 a, f16 b) { return {a.low / b.low, a.high / b.high}; }
SKEL_RT_INLINE f16 min(f16 a, f16 b) { return {min(a.low, b.low), min(a.high, b.high)}; }
SKEL_RT_INLINE f16 max(f16 a, f16 b) { return {max(a.low, b.low), max(a.high, b.high)}; }
SKEL_RT_INLINE f16 square_root(f16 a) { return {square_root(a.low), square_root(a.high)}; }
SKEL_RT_INLINE f16 operator>(f16 a, f16 b) { return {a.low > b.low, a.high > b.high}; }
SKEL_RT_INLINE f16 operator<=(f16 a, f16 b) { return {a.low <= b.low, a.high <= b.high}; }
SKEL_RT_INLINE f16 operator>=(f16 a, f16 b) { return {a.low >= b.low, a.high >= b.high}; }
SKEL_RT_INLINE f16 operator&(f16 a, f16 b) { return {a.low & b.low, a.high & b.high}; }
SKEL_RT_INLINE f16 choose(f16 mask, f16 a, f16 b) {
  return {choose(mask.low, a.low, b.low), choose(mask.high, a.high, b.high)};
}
SKEL_RT_INLINE unsigned bits(f16 mask) { return bits(mask.low) | bits(mask.high) << 8; }
SKEL_RT_INLINE f16 loose_multiply_subtract(f16 a, f16 b, f16 c) {
  return {loose_multiply_subtract(a.low, b.low, c.low), loose_multiply_subtract(a.high, b.high, c.high)};
}
SKEL_RT_INLINE float lowest(f16 a) {
  alignas(32) float at[8];
  store(at, min(a.low, a.high));
  float found = at[0];
  for (float const x : at) found = x < found ? x : found;
  return found;
}
SKEL_RT_INLINE float highest(f16 a) {
  alignas(32) float at[8];
  store(at, max(a.low, a.high));
  float found = at[0];
  for (float const x : at) found = x > found ? x : found;
  return found;
}

template <class V>
struct v3 {
  V x, y, z;
};
using f8x3 = v3<f8>;
using f16x3 = v3<f16>;
template <class V>
SKEL_RT_INLINE V broadcast(float x) {
  if constexpr (sizeof(V) == sizeof(f8)) {
    return all(x);
  } else {
    return all16(x);
  }
}
SKEL_RT_INLINE f8x3 all(vec3f a) { return {all(a.x), all(a.y), all(a.z)}; }
SKEL_RT_INLINE f8x3 load(float const (*p)[8]) { return {load(p[0]), load(p[1]), load(p[2])}; }
SKEL_RT_INLINE f16x3 load16(float const (*p)[16]) { return {load16(p[0]), load16(p[1]), load16(p[2])}; }
SKEL_RT_INLINE f16x3 all16(float const (*p)[8], int i) {
  return {all16(p[0][i]), all16(p[1][i]), all16(p[2][i])};
}
template <class V>
SKEL_RT_INLINE V dot(v3<V> const& a, v3<V> const& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class V>
SKEL_RT_INLINE v3<V> operator+(v3<V> const& a, v3<V> const& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class V>
SKEL_RT_INLINE v3<V> operator-(v3<V> const& a, v3<V> const& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class V>
SKEL_RT_INLINE v3<V> operator*(V s, v3<V> const& a) {
  return {s * a.x, s * a.y, s * a.z};
}
