// The method of [Camargo06]: a table of all products, one look-up each.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "storage/product.hpp"
#include "storage/transform.hpp"

namespace skel::storage {

namespace {

using product_rows = std::array<std::array<element, 256>, 256>;

product_rows make_products() {
  product_rows rows{};
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b)
      rows[a][b] = multiply(static_cast<element>(a), static_cast<element>(b));
  return rows;
}

product_rows const& products() {
  static product_rows const rows = make_products();
  return rows;
}

void add_product(element cell, std::byte const* source, std::byte* output, std::size_t size) {
  if (cell == 1) {
    for (std::size_t i = 0; i < size; ++i) output[i] ^= source[i];
    return;
  }
  auto const& row = products()[cell];
  for (std::size_t i = 0; i < size; ++i) output[i] ^= std::byte{row[static_cast<element>(source[i])]};
}

}  // namespace

void product_table_from(product_job const& job, std::size_t begin) {
  constexpr std::size_t strip = 4096;  // this part of the outputs stays in the first cache
  for (; begin < job.end; begin += strip) {
    auto const size = std::min(strip, job.end - begin);
    for (std::size_t r = 0; r < job.rows; ++r) {
      auto* const output = job.outputs[r] + begin;
      if (!job.add) std::fill_n(output, size, std::byte{0});
      for (std::size_t c = 0; c < job.columns; ++c)
        add_product(job.cells.nibbles[c * job.rows + r][1], job.sources[c] + begin, output, size);
    }
  }
}

namespace table {
#define SKEL_GF_TARGET
#define SKEL_GF_INLINE static inline
struct instructions {
  static constexpr std::size_t width = 64, log_rows = 2;
  using vector = std::array<std::uint64_t, 8>;
  using operand = std::array<element, width>;
  using factor = element const*;
  SKEL_GF_INLINE vector load(std::byte const* p) {
    vector v;
    std::memcpy(&v, p, width);
    return v;
  }
  SKEL_GF_INLINE void store(std::byte* p, vector const& v) { std::memcpy(p, &v, width); }
  SKEL_GF_INLINE void stream(std::byte* p, vector const& v) { store(p, v); }
  static void fence() {}
  SKEL_GF_INLINE vector zero() { return {}; }
  SKEL_GF_INLINE vector sum(vector a, vector const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] ^= b[i];
    return a;
  }
  SKEL_GF_INLINE operand prepare(vector const& v) {
    operand x;
    std::memcpy(&x, &v, width);
    return x;
  }
  SKEL_GF_INLINE factor factor_of(factor_view f, std::size_t cell) {
    return products()[f.nibbles[cell][1]].data();
  }
  SKEL_GF_INLINE vector product(factor f, operand x) {
    for (auto& byte : x) byte = f[byte];
    vector v;
    std::memcpy(&v, &x, width);
    return v;
  }
};
#include "storage/transform.inl"
#undef SKEL_GF_INLINE
#undef SKEL_GF_TARGET
}  // namespace table

void transform_table(transform_job const& job) { table::transform(job); }

void product_table(product_job const& job) { product_table_from(job, job.begin); }

}  // namespace skel::storage
