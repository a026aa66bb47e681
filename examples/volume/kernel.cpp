#include "kernel.hpp"

#include <algorithm>
#if SKEL_VOLUME_HAVE_AVX512
#include <cpuid.h>
#endif

namespace volume {

namespace {

#if SKEL_VOLUME_HAVE_AVX512
// Gather instructions are fast on Intel processors with half-precision arithmetic (from Sapphire
// Rapids, 2023). On older ones the microcode fix for "gather data sampling" makes them slow; on
// AMD's Zen 4 they are slow by design.
bool gathers_fast() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned half_precision = 1U << 23U;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & half_precision) != 0;
}
#endif

}  // namespace

std::vector<kernel const*> const& kernels() {
  static std::vector<kernel const*> const here = [] {
    std::vector<kernel const*> found;
#if SKEL_VOLUME_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
      found.insert(found.end(), {&avx512_gather::functions, &avx512::functions});
    if (!found.empty() && !gathers_fast()) std::ranges::reverse(found);
#endif
#if SKEL_VOLUME_HAVE_AVX2
    if (__builtin_cpu_supports("avx2")) found.push_back(&avx2::functions);
#endif
    found.push_back(&portable::functions);
    return found;
  }();
  return here;
}

kernel const* find_kernel(std::string_view name) {
  auto const at = std::ranges::find(kernels(), name, [](kernel const* k) { return k->name; });
  return at == kernels().end() ? nullptr : *at;
}

}  // namespace volume
