#include "kernel.hpp"

#include <cstring>

namespace raytrace {

kernel const* find_kernel(char const* name) {
#if SKEL_RT_HAVE_AVX2
  if (std::strcmp(name, avx2::functions.name) == 0) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2::functions : nullptr;
  }
#endif
#if SKEL_RT_HAVE_AVX512
  if (std::strcmp(name, avx512::functions.name) == 0) {
    bool const can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return can && __builtin_cpu_supports("fma") ? &avx512::functions : nullptr;
  }
#endif
  return std::strcmp(name, portable::functions.name) == 0 ? &portable::functions : nullptr;
}

kernel const& best_kernel() {
  static kernel const* const best = [] {
    for (char const* const name : {"avx512", "avx2"})
      if (auto const* const found = find_kernel(name)) return found;
    return &portable::functions;
  }();
  return *best;
}

}  // namespace raytrace
