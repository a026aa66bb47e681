#include "kernel.hpp"

#include <algorithm>

namespace skel::volume {

std::vector<kernel const*> const& kernels() {
  static std::vector<kernel const*> const here = [] {
    std::vector<kernel const*> found;
#if SKEL_VOLUME_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
      found.push_back(&avx512::functions);
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

}  // namespace skel::volume
