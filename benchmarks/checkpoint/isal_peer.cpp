#include "isal_peer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#if SKEL_HAVE_ISAL
#include <isa-l/erasure_code.h>
#endif

namespace bench {

#if SKEL_HAVE_ISAL

bool have_isal() noexcept { return true; }

bool have_isal_avx2() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

std::vector<unsigned char> isal_generator(int m, int k) {
  std::vector<unsigned char> cells(static_cast<std::size_t>((m + k) * m));
  gf_gen_cauchy1_matrix(cells.data(), m + k, m);
  return cells;
}

isal_product::isal_product(int sources, int outputs, std::vector<unsigned char> cells)
    : sources_(sources), outputs_(outputs), tables_(static_cast<std::size_t>(32 * sources * outputs)) {
  ec_init_tables(sources, outputs, cells.data(), tables_.data());
}

isal_product isal_product::encode(int m, int k) {
  auto const cells = isal_generator(m, k);
  return {m, k, {cells.begin() + m * m, cells.end()}};
}

isal_product isal_product::decode(int m, int k) { return decode(m, isal_generator(m, k), std::min(m, k)); }

isal_product isal_product::decode(int m, std::vector<unsigned char> const& cells, int lost) {
  std::vector<unsigned char> left(cells.begin() + lost * m, cells.begin() + (lost + m) * m),
      back(left.size());
  if (gf_invert_matrix(left.data(), back.data(), m) != 0) throw std::runtime_error("ISA-L: singular matrix");
  back.resize(static_cast<std::size_t>(lost * m));
  return {m, lost, std::move(back)};
}

void isal_product::run(isal_kernel which, std::span<std::byte const* const> sources,
                       std::span<std::byte* const> outputs, std::size_t size) const {
  // ISA-L's functions take pointers to non-const data that they do not change.
  auto* const tables = const_cast<unsigned char*>(tables_.data());  // NOLINT
  auto** const from = reinterpret_cast<unsigned char**>(            // NOLINT
      const_cast<std::byte**>(sources.data()));                     // NOLINT
  auto** const to = reinterpret_cast<unsigned char**>(              // NOLINT
      const_cast<std::byte**>(outputs.data()));                     // NOLINT
  auto const length = static_cast<int>(size);
#if defined(__x86_64__)
  if (which == isal_kernel::avx2) return ec_encode_data_avx2(length, sources_, outputs_, tables, from, to);
#endif
  if (which == isal_kernel::best) ec_encode_data(length, sources_, outputs_, tables, from, to);
}

#else

bool have_isal() noexcept { return false; }
bool have_isal_avx2() noexcept { return false; }
isal_product::isal_product(int sources, int outputs, std::vector<unsigned char> cells)
    : sources_(sources), outputs_(outputs), tables_(std::move(cells)) {}
std::vector<unsigned char> isal_generator(int, int) { return {}; }
isal_product isal_product::encode(int m, int k) { return {m, k, {}}; }
isal_product isal_product::decode(int m, std::vector<unsigned char> const&, int lost) {
  return {m, lost, {}};
}
isal_product isal_product::decode(int m, int k) { return {m, k, {}}; }
void isal_product::run(isal_kernel, std::span<std::byte const* const>, std::span<std::byte* const>,
                       std::size_t) const {
  throw std::logic_error("built without ISA-L");
}

#endif

}  // namespace bench
