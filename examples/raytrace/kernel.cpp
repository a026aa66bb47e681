#include "kernel.hpp"

#include <cstring>

namespace raytrace {

kernel const* find_kernel(char const* name) {
#if SKEL_RT_HAVE_AVX2
  if (std::strcmp(name, avx2::functions.name) == 0) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2::functions : nullptr;
  }
#endif
  return std::strcmp(name, portable::functions.name) == 0 ? &portable::functions : nullptr;
}

kernel const& best_kernel() {
  static kernel const* const best = [] {
    auto const* const wide = find_kernel("avx2");
    return wide != nullptr ? wide : &portable::functions;
  }();
  return *best;
}

}  // namespace raytrace
