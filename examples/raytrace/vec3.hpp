// Three-dimensional vectors. `real` is double for reading and preparing scenes, float for tracing
// rays.
#pragma once

#include <cmath>

// Rendering code is compiled once per instruction set (kernel.hpp). The linker would merge an
// ordinary inline function into one copy, perhaps the one for the newest processor. These functions
// never exist out of line.
#define SKEL_RT_INLINE [[gnu::always_inline]] inline

namespace raytrace {

template <class real>
struct vec3 {
  real x{}, y{}, z{};
  friend bool operator==(vec3 const&, vec3 const&) = default;
};
using vec3d = vec3<double>;
using vec3f = vec3<float>;

template <class real>
SKEL_RT_INLINE constexpr vec3<real> operator+(vec3<real> a, vec3<real> b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class real>
SKEL_RT_INLINE constexpr vec3<real> operator-(vec3<real> a, vec3<real> b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class real>
SKEL_RT_INLINE constexpr vec3<real> operator-(vec3<real> a) {
  return {-a.x, -a.y, -a.z};
}
template <class real>
SKEL_RT_INLINE constexpr vec3<real> operator*(real s, vec3<real> a) {
  return {s * a.x, s * a.y, s * a.z};
}
/// Componentwise: a colour filtered by a colour.
template <class real>
SKEL_RT_INLINE constexpr vec3<real> operator*(vec3<real> a, vec3<real> b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
template <class real>
SKEL_RT_INLINE constexpr real dot(vec3<real> a, vec3<real> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class real>
SKEL_RT_INLINE constexpr vec3<real> cross(vec3<real> a, vec3<real> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
SKEL_RT_INLINE float length(vec3f a) { return __builtin_sqrtf(dot(a, a)); }
SKEL_RT_INLINE double length(vec3d a) { return __builtin_sqrt(dot(a, a)); }
template <class real>
SKEL_RT_INLINE vec3<real> normalized(vec3<real> a) {
  return (real(1) / length(a)) * a;
}
SKEL_RT_INLINE constexpr vec3f to_float(vec3d a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}
SKEL_RT_INLINE constexpr vec3d to_double(vec3f a) {
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
}

}  // namespace raytrace
