#include "skel/storage/kernel.hpp"

#include <array>
#include <cstdlib>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/product.hpp"
#include "storage/transform.hpp"

namespace skel::storage {

namespace {

struct known_kernel {
  kernel which;
  std::string_view name;
  product_function product;
  transform_function transform;
  bool (*runs_here)();
};

[[maybe_unused]] bool always() { return true; }

constexpr known_kernel built_in[] = {
    {kernel::table, "table", product_table, transform_table, always},
#if SKEL_VECTOR_GF && defined(__x86_64__)
    {kernel::ssse3, "ssse3", product_ssse3, transform_ssse3,
     [] { return __builtin_cpu_supports("ssse3") != 0; }},
    {kernel::avx2, "avx2", product_avx2, transform_avx2, [] { return __builtin_cpu_supports("avx2") != 0; }},
    {kernel::avx512, "avx512", product_avx512, transform_avx512,
     [] { return __builtin_cpu_supports("avx512bw") != 0; }},
    {kernel::avx2_gfni, "avx2-gfni", product_avx2_gfni, transform_avx2_gfni,
     [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("gfni") != 0; }},
    {kernel::avx512_gfni, "avx512-gfni", product_avx512_gfni, transform_avx512_gfni,
     [] { return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("gfni") != 0; }},
#endif
#if SKEL_VECTOR_GF && defined(__aarch64__)
    {kernel::neon, "neon", product_neon, transform_neon, always},
#endif
};

constexpr std::array<std::string_view, 8> kernel_names{"table",  "ssse3",       "avx2", "avx2-gfni",
                                                       "avx512", "avx512-gfni", "neon", "auto"};

}  // namespace

std::string_view to_string(kernel k) { return kernel_names.at(static_cast<std::size_t>(k)); }

product_function function_of(kernel k) {
  for (auto const& known : built_in)
    if (known.which == k && known.runs_here()) return known.product;
  return nullptr;
}

transform_function transform_of(kernel k) {
  for (auto const& known : built_in)
    if (known.which == k && known.runs_here()) return known.transform;
  return nullptr;
}

std::vector<kernel> kernels() {
  std::vector<kernel> found;
  for (auto const& known : built_in)
    if (known.runs_here()) found.push_back(known.which);
  return found;
}

kernel kernel_named(std::string_view name) {
  if (name == to_string(kernel::automatic)) return kernel::automatic;
  auto const here = kernels();
  for (auto const k : here)
    if (to_string(k) == name) return k;
  std::vector<std::string_view> runs;
  runs.reserve(here.size());
  for (auto const k : here) runs.push_back(to_string(k));
  for (auto const known : kernel_names)
    if (known == name)
      throw usage_error(detail::format(
          "kernel \"{}\" does not run on this machine or was not built in; available: auto, {}", name,
          detail::join(runs, ", ")));
  throw usage_error(
      detail::format("unknown kernel \"{}\"; known: {}", name, detail::join(kernel_names, ", ")));
}

kernel default_kernel() {
  static kernel const chosen = [] {
    char const* const wanted =
        std::getenv("SKEL_GF_KERNEL");  // NOLINT(concurrency-mt-unsafe): never modified
    if (wanted == nullptr || *wanted == '\0') return kernel::automatic;
    try {
      return kernel_named(wanted);
    } catch (usage_error const& bad) {
      throw usage_error(detail::format("SKEL_GF_KERNEL: {}", bad.what()));
    }
  }();
  return chosen;
}

}  // namespace skel::storage
