// The method of [Camargo06]: a table of all products, one look-up each.
#include <algorithm>
#include <array>

#include "storage/product.hpp"

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

void add_product(element cell, std::byte const* source, std::byte* output, std::size_t size) {
  static product_rows const products = make_products();
  if (cell == 1) {
    for (std::size_t i = 0; i < size; ++i) output[i] ^= source[i];
    return;
  }
  auto const& row = products[cell];
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
        add_product(job.nibbles[c * job.rows + r][1], job.sources[c] + begin, output, size);
    }
  }
}

void product_table(product_job const& job) { product_table_from(job, job.begin); }

}  // namespace skel::storage
